#' Price a question, or ask it
#'
#' `curator_plan()` tells the price, the noise and what is to be had for nothing; it costs
#' nothing. `curator_query()` pays, once: the question is sent with a key of its own, so
#' that a lost reply is charged no second time.
#'
#' @param con A connection, of [curator()].
#' @param sql The question.
#' @param epsilon What to pay: `"0.1"`, or a number.
#' @param within Instead of `epsilon`: how far off every count and sum may be, with 95 %.
#'   A list is a wish in full: `list(within = 50, confidence = "0.99")`, of averages
#'   `list(within = 0.5, rows = 100)` (in groups of so many values or more), or
#'   `list(relative = "5%", at_least = 10, cells = "90%", at_most = "0.5")`.
#' @param prefer `"release"` or `"paid"` takes what is there for nothing. Where nothing is,
#'   the question is paid: the plan tells (`for nothing:`).
#' @param reuse `"never"` buys the same question anew.
#' @param max_rows_per_unit,max_groups_per_unit Bounds of what one patient adds.
#' @param dataset,project Others than the connection's.
#' @param rho Instead of `epsilon`, where the population counts rho (zCDP).
#' @param weights Shares of the price by column, 1 where left out: `c(patients = 2)`.
#' @param tables The most rows of one patient that are read of each table named, before
#'   filters: `c(encounters = 5)`.
#' @return `curator_plan()`: a plan, printed with the noise of each count and sum, and how
#'   far off an average or quantile may be if a group has so many values. `curator_query()`: a tibble with
#'   one row a group. Beside each noisy column stand `<column>_low` and `<column>_high`,
#'   between which the exact value lies with 95 %. Attributes: `query_id`, `epsilon`,
#'   `snapshot`, `remaining`, `noise`, `warnings`, `derivation`, `confidence`.
#' @examples
#' \dontrun{
#' con <- curator()
#' sql <- "SELECT sex, COUNT(*) AS n FROM patients GROUP BY sex"
#' curator_plan(con, sql, epsilon = "0.1")
#' answer <- curator_query(con, sql, epsilon = "0.1")
#' }
#' @export
curator_plan <- function(con, sql, epsilon = NULL, within = NULL, prefer = NULL,
                         reuse = NULL, max_rows_per_unit = NULL,
                         max_groups_per_unit = NULL, dataset = NULL, project = NULL,
                         rho = NULL, weights = NULL, tables = NULL) {
  bounds <- bounds_of(max_rows_per_unit, max_groups_per_unit, tables)
  body <- question(con, sql, epsilon, within, rho, project, prefer, reuse, weights, bounds)
  path <- c("v1", "datasets", dataset_of(con, dataset), "plan")
  structure(call_server(con, "POST", path, body = body), class = "curator_plan")
}

#' @rdname curator_plan
#' @export
curator_query <- function(con, sql, epsilon = NULL, within = NULL, prefer = NULL,
                          reuse = NULL, max_rows_per_unit = NULL,
                          max_groups_per_unit = NULL, dataset = NULL, project = NULL,
                          rho = NULL, weights = NULL, tables = NULL) {
  bounds <- bounds_of(max_rows_per_unit, max_groups_per_unit, tables)
  body <- question(con, sql, epsilon, within, rho, project, prefer, reuse, weights, bounds)
  path <- c("v1", "datasets", dataset_of(con, dataset), "queries")
  answer_of(call_server(con, "POST", path, body = body, once = new_key()))
}

#' Read an answer again, for nothing
#'
#' @param con A connection, of [curator()].
#' @param query_id Of an answer's attributes, or of [curator_history()].
#' @return As of [curator_query()]; of a study as of [curator_study()].
#' @export
curator_answer <- function(con, query_id) {
  found <- call_server(con, "GET", c("v1", "queries", query_id))
  if (!is.null(found$study)) return(study_of(found$study))
  if (is.null(found$answer)) {
    stop("query ", query_id, " has no answer: it is ", found$state, call. = FALSE)
  }
  answer_of(found$answer)
}

bounds_of <- function(rows, groups, tables) {
  named_or_null(list(
    max_rows_per_unit = rows, max_groups_per_unit = groups, tables = members(tables)
  ))
}

# A named vector or list as an object of JSON.
members <- function(values) {
  if (is.null(values)) return(NULL)
  if (is.null(names(values)) || !all(nzchar(names(values)))) {
    stop("weights and tables have names: c(patients = 2)", call. = FALSE)
  }
  as.list(values)
}

question <- function(con, sql, epsilon, within, rho, project, prefer, reuse, weights, bounds) {
  if (is.null(epsilon) + is.null(within) + is.null(rho) != 2) {
    stop("give epsilon, or within: one of them (or rho, where that is counted)", call. = FALSE)
  }
  options <- list(
    prefer = prefer, reuse = reuse, weights = members(weights), bounds = bounds
  )
  body <- list(sql = paste(sql, collapse = "\n"))
  if (!is.null(epsilon)) body$epsilon <- decimal_text(epsilon)
  if (!is.null(rho)) body$rho <- decimal_text(rho)
  if (!is.null(within)) body$accuracy <- wish(within)
  body$project <- if (is.null(project)) con$project else project
  body$options <- named_or_null(options)
  body
}

# A wish in full, its loss as it was written.
wish <- function(within) {
  if (!is.list(within)) return(list(within = within))
  if (!is.null(within$at_most)) within$at_most <- decimal_text(within$at_most)
  if (!is.null(within$rows)) within$rows <- as.integer(within$rows) # never 1e+05
  within
}

named_or_null <- function(members) {
  members <- Filter(Negate(is.null), members)
  if (length(members)) members else NULL
}

# 0.1 is meant where 0.1 is written, whatever double lies next to it.
decimal_text <- function(value) {
  if (is.character(value)) return(value)
  format(value, digits = 15, scientific = FALSE, trim = TRUE)
}

dataset_of <- function(con, dataset) {
  found <- if (is.null(dataset)) con$dataset else dataset
  if (!is.null(found)) return(found)
  known <- vapply(all_items(con, c("v1", "datasets")), function(one) one$name, "")
  if (length(known) == 1) return(known)
  stop(
    if (length(known)) paste("name a dataset:", paste(known, collapse = ", "))
    else "no dataset is granted to you: ask your custodian",
    call. = FALSE
  )
}

new_key <- function() {
  letters_and_digits <- c(letters, 0:9)
  # The session's random numbers stay as set.seed() left them.
  if (exists(".Random.seed", globalenv())) {
    seed <- get(".Random.seed", globalenv())
    on.exit(assign(".Random.seed", seed, globalenv()))
  } else {
    on.exit(rm(".Random.seed", envir = globalenv()))
  }
  set.seed(NULL)
  moment <- format(as.numeric(Sys.time()) * 1e6, scientific = FALSE, trim = TRUE)
  paste0("r-", moment, "-", Sys.getpid(), "-",
    paste(sample(letters_and_digits, 24, TRUE), collapse = ""))
}

offered <- function(one) {
  switch(one$kind,
    answer = paste("the answer of", one$id, "again: it was paid for"),
    release = paste0("release ", one$name, " (", one$id, "), prefer = \"release\""),
    paste0("what was paid for gives it, prefer = \"", one$kind, "\"")
  )
}

# A rho, with the epsilon that it amounts to; or the epsilon.
loss_words <- function(told) {
  if (is.null(told$rho)) return(paste("epsilon", told$epsilon))
  paste0("rho ", told$rho, " (epsilon ", told$epsilon, " at delta ", told$delta, ")")
}

# Of an average or a quantile: what its noise may do, by how many values a group has.
expected_words <- function(one) {
  told <- vapply(seq_along(one$counted), function(place) {
    width <- one$half_widths[[place]]
    if (is.null(width)) return("anything")
    number <- signif(as.numeric(width), 2)
    if (identical(one$of, "share")) paste0("+/- ", 100 * number, " % of its values")
    else paste("+/-", number)
  }, "")
  counted <- format(
    as.numeric(unlist(one$counted)),
    big.mark = ",", trim = TRUE, scientific = FALSE
  )
  paste0(
    one$column, ", if a group has ", paste0(counted, ": ", told, collapse = "; "),
    " (", percent(one$confidence), ")"
  )
}

#' @export
print.curator_plan <- function(x, ...) {
  cat(loss_words(x), ", of ", x$remaining$project, " left", sep = "")
  cat(if (isTRUE(x$affordable)) "\n" else ": not affordable\n")
  for (one in x$noise) {
    part <- if (is.null(one$part)) one$per else one$part
    name <- if (is.null(part)) one$column else paste0(one$column, " (", part, ")")
    cat("  ", name, ": +/- ", one$half_width_95, " in 95 %\n", sep = "")
  }
  for (one in x$expected) cat("  ", expected_words(one), "\n", sep = "")
  for (one in x$free) {
    cat("  for nothing: ", offered(one), "\n", sep = "")
  }
  for (one in x$warnings) cat("  note: ", one$detail, "\n", sep = "")
  invisible(x)
}
