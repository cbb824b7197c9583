#' Where the server is, and who asks
#'
#' @param url Address of the server; without it, the environment's `CURATOR_URL`.
#' @param key Your API key; without it, the environment's `CURATOR_API_KEY`.
#' @param dataset The dataset to ask; needed where you may ask several.
#' @param project Whose budget is charged; needed where several of yours fit.
#' @return A connection, which the other functions take first. It holds no socket.
#' @export
curator <- function(url = NULL, key = NULL, dataset = NULL, project = NULL) {
  url <- given(url, "CURATOR_URL", "the server's address")
  key <- trimws(given(key, "CURATOR_API_KEY", "your key"))
  if (!grepl("^[!-~]+$", key)) {
    stop("the key is none: keys are letters, digits and _, without blanks", call. = FALSE)
  }
  structure(
    list(url = sub("/+$", "", url), key = key, dataset = dataset, project = project),
    class = "curator"
  )
}

given <- function(value, variable, what) {
  found <- if (is.null(value)) Sys.getenv(variable) else value
  if (!is.character(found) || length(found) != 1 || is.na(found) || !nzchar(found)) {
    stop("give ", what, ", or set ", variable, call. = FALSE)
  }
  found
}

#' @export
print.curator <- function(x, ...) {
  cat("<curator> ", x$url, "\n", sep = "")
  if (!is.null(x$dataset)) cat("dataset ", x$dataset, "\n", sep = "")
  if (!is.null(x$project)) cat("project ", x$project, "\n", sep = "")
  invisible(x)
}

# A lost connection and a busy server are tried again: what is paid for is sent with a
# key of its own, under which the server charges once.
TRIES <- 4

call_server <- function(con, method, path, query = list(), body = NULL, once = NULL) {
  stopifnot(inherits(con, "curator"))
  request <- httr2::request(con$url)
  request <- do.call(httr2::req_url_path_append, c(list(request), as.list(path)))
  request <- do.call(httr2::req_url_query, c(list(request), query))
  request <- httr2::req_method(request, method)
  request <- httr2::req_auth_bearer_token(request, con$key)
  request <- httr2::req_user_agent(request, "curator-r/0.1.0")
  request <- httr2::req_error(request, is_error = function(response) FALSE)
  if (!is.null(body)) {
    text <- jsonlite::toJSON(body, auto_unbox = TRUE, digits = NA, null = "null")
    request <- httr2::req_body_raw(request, charToRaw(enc2utf8(text)), "application/json")
  }
  if (!is.null(once)) {
    request <- httr2::req_headers(request, `Idempotency-Key` = once)
  }
  for (attempt in seq_len(TRIES)) {
    response <- tryCatch(httr2::req_perform(request), error = function(e) e)
    lost <- inherits(response, "error")
    # 409: the question that was sent before is under way; its answer comes with the key.
    if (!lost && !(httr2::resp_status(response) %in% c(if (!is.null(once)) 409, 429, 503))) break
    if (attempt == TRIES) break
    Sys.sleep(if (lost) attempt else waiting(response, attempt))
  }
  if (lost) {
    unreached(con$url, conditionMessage(response))
  }
  document <- tryCatch(
    httr2::resp_body_json(response, check_type = FALSE, simplifyVector = FALSE),
    error = function(e) NULL
  )
  if (httr2::resp_status(response) >= 400 || is.null(document)) {
    refuse(document, httr2::resp_status(response))
  }
  document
}

waiting <- function(response, attempt) {
  told <- suppressWarnings(as.numeric(httr2::resp_header(response, "Retry-After")))
  if (length(told) == 1 && !is.na(told)) min(max(told, 0), 30) else attempt
}

# An error of class curator_<type>, e.g. curator_budget_exceeded, with the reply's members.
refuse <- function(problem, status) {
  type <- if (is.character(problem$type)) problem$type else "unknown"
  text <- if (is.null(problem$detail)) paste("status", status) else problem$detail
  if (!is.null(problem$line)) {
    text <- sprintf("%s (line %s, column %s)", text, problem$line, problem$column)
  }
  if (!is.null(problem$hint)) text <- paste0(text, "\nhint: ", problem$hint)
  if (!is.null(problem$rewritten)) text <- paste0(text, "\ntry: ", problem$rewritten)
  stop(structure(
    class = c(paste0("curator_", basename(type)), "curator_error", "error", "condition"),
    list(message = text, call = NULL, status = status, problem = problem)
  ))
}

# No reply came: an error as refusals are, so that one handler meets both. What was sent
# with a key may have been paid for, and is not paid for again where it is sent again.
unreached <- function(url, reason) {
  stop(structure(
    class = c("curator_connection_error", "curator_error", "error", "condition"),
    list(message = paste0("no reply from ", url, ": ", reason), call = NULL)
  ))
}

all_items <- function(con, path, most = 1000) {
  found <- list()
  cursor <- NULL
  repeat {
    page <- call_server(con, "GET", path, query = list(limit = 100, cursor = cursor))
    found <- c(found, page$items)
    cursor <- page$next_cursor
    if (is.null(cursor) || length(found) >= most) break
  }
  utils::head(found, most)
}
