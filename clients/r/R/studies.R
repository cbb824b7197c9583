#' Several questions for one charge
#'
#' `curator_plan_study()` finds which tables to measure for all of them, and tells the
#' price; it costs nothing. `curator_study()` pays, once, and never more than the questions
#' would cost one by one. Numbers of questions that one table answers add up exactly.
#'
#' @param con A connection, of [curator()].
#' @param questions A list: each is a text, or `list(sql = , within = )` with the members
#'   `within` (as of [curator_query()]), `epsilon` or `rho`, `weights`, `bounds`. A name of
#'   the list is the answer's name.
#' @param within Of questions that say none of their own.
#' @param epsilon A total to spend: all half-widths grow or shrink alike. Without it, it is
#'   the least that keeps to all accuracies.
#' @param rho Likewise, where the population counts rho (zCDP).
#' @param reuse `"never"` buys the same study anew.
#' @param dataset,project Others than the connection's.
#' @return `curator_plan_study()`: a plan, printed with the tables that are measured and how
#'   wide each question is. `curator_study()`: a list of answers as of [curator_query()],
#'   with the attributes `query_id`, `epsilon`, `rho`, `remaining`, `parts`;
#'   [curator_answer()] of that `query_id` brings it again, for nothing.
#' @examples
#' \dontrun{
#' con <- curator()
#' questions <- list(
#'   by_sex = list(sql = "SELECT sex, COUNT(*) AS n FROM patients GROUP BY sex", within = 40),
#'   all = list(sql = "SELECT COUNT(*) AS n FROM patients", within = 30)
#' )
#' curator_plan_study(con, questions)
#' study <- curator_study(con, questions)
#' study$by_sex
#' }
#' @export
curator_plan_study <- function(con, questions, within = NULL, epsilon = NULL, rho = NULL,
                               reuse = NULL, dataset = NULL, project = NULL) {
  body <- study_body(con, questions, within, epsilon, rho, reuse, project)
  path <- c("v1", "datasets", dataset_of(con, dataset), "plans")
  structure(
    call_server(con, "POST", path, body = body),
    class = "curator_study_plan", called = names(questions)
  )
}

#' @rdname curator_plan_study
#' @export
curator_study <- function(con, questions, within = NULL, epsilon = NULL, rho = NULL,
                          reuse = NULL, dataset = NULL, project = NULL) {
  body <- study_body(con, questions, within, epsilon, rho, reuse, project)
  path <- c("v1", "datasets", dataset_of(con, dataset), "studies")
  document <- call_server(con, "POST", path, body = body, once = new_key())
  study_of(document, names(questions))
}

study_body <- function(con, questions, within, epsilon, rho, reuse, project) {
  if (!is.list(questions) && !is.character(questions) || !length(questions)) {
    stop("questions is a list: list(list(sql = \"SELECT ...\", within = 40))", call. = FALSE)
  }
  if (!is.list(questions)) questions <- as.list(questions)
  if ("sql" %in% names(questions)) {
    stop("questions is a list of questions: list(list(sql = ...))", call. = FALSE)
  }
  body <- list(questions = lapply(unname(questions), in_study, within = within))
  if (!is.null(epsilon)) body$epsilon <- decimal_text(epsilon)
  if (!is.null(rho)) body$rho <- decimal_text(rho)
  body$project <- if (is.null(project)) con$project else project
  body$options <- named_or_null(list(reuse = reuse))
  body
}

in_study <- function(one, within) {
  if (is.character(one)) one <- list(sql = one)
  strange <- setdiff(names(one), c("sql", "within", "epsilon", "rho", "weights", "bounds"))
  if (is.null(one$sql) || length(strange)) {
    stop("a question has sql, within (or epsilon, or rho), weights, bounds", call. = FALSE)
  }
  told <- list(sql = paste(one$sql, collapse = "\n"))
  if (is.null(one$within) && is.null(one$epsilon) && is.null(one$rho)) one$within <- within
  if (!is.null(one$within)) told$accuracy <- wish(one$within)
  if (!is.null(one$epsilon)) told$epsilon <- decimal_text(one$epsilon)
  if (!is.null(one$rho)) told$rho <- decimal_text(one$rho)
  bounds <- one$bounds
  if (!is.null(bounds$tables)) bounds$tables <- members(bounds$tables)
  told$options <- named_or_null(list(weights = members(one$weights), bounds = bounds))
  told
}

# A reply's answers, called as the questions were.
study_of <- function(document, called = NULL) {
  answers <- lapply(document$answers, answer_of)
  names(answers) <- called
  structure(
    answers,
    class = "curator_study",
    query_id = document$query_id,
    epsilon = document$charge$epsilon,
    rho = document$charge$rho,
    remaining = document$remaining$project,
    parts = document$parts
  )
}

#' @export
print.curator_study_plan <- function(x, ...) {
  alone <- if (is.null(x$one_by_one$rho)) x$one_by_one$epsilon else x$one_by_one$rho
  cat(loss_words(x), " (one by one ", alone, "), of ", x$remaining$project, " left", sep = "")
  cat(if (isTRUE(x$affordable)) "\n" else ": not affordable\n")
  for (part in x$parts) {
    for (table in part$tables) {
      cat("  measured: ", one_line(table$sql), " (", loss_words(table), ")\n", sep = "")
    }
    for (number in unlist(part$questions)) {
      cat("    ", widths_of(x, number), "\n", sep = "")
    }
  }
  invisible(x)
}

# Questions are counted from 0 in replies.
widths_of <- function(plan, number) {
  question <- plan$questions[[number + 1]]
  called <- attr(plan, "called")[number + 1]
  name <- if (length(called) && !is.na(called) && nzchar(called)) called
  else paste0("[", number + 1, "]")
  widths <- vapply(question$half_widths, function(one) {
    paste0(one$column, " +/- ", one$greatest)
  }, "")
  said <- if (length(widths)) paste(widths, collapse = ", ") else "as it is drawn"
  paste0(name, ": ", said)
}

one_line <- function(sql) {
  text <- gsub("\\s+", " ", trimws(sql))
  if (nchar(text) > 60) paste0(substr(text, 1, 57), "...") else text
}

#' @export
print.curator_study <- function(x, ...) {
  for (place in seq_along(x)) {
    called <- names(x)[place]
    cat("## ", if (length(called) && nzchar(called)) called else place, "\n", sep = "")
    print(x[[place]])
  }
  rho <- attr(x, "rho")
  paid <- if (is.null(rho)) paste("epsilon", attr(x, "epsilon")) else paste("rho", rho)
  cat("# paid for all: ", paid, ", ", attr(x, "remaining"), " left\n", sep = "")
  invisible(x)
}
