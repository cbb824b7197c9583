#' What there is, and what is left
#'
#' @param con A connection, of [curator()].
#' @param dataset Another than the connection's.
#' @return Tibbles. `curator_datasets()`: what you may ask. `curator_schema()`: a row a
#'   column, with its table, type and public domain. `curator_budget()`: allotment, spent
#'   and remaining of each of your projects, as texts with every digit: `as.numeric()`
#'   makes numbers of them, that may be off in the last. `curator_history()`: your
#'   questions, newest first, also those of [curator_answer()]; `time` is a POSIXct, UTC. `curator_releases()`: what is published for
#'   you. `curator_announcements()`: what will be, and by which day. `curator_release()`: what its columns are called, and their values;
#'   of sequences, what they are split by, and their symbols.
#' @export
curator_datasets <- function(con) {
  rows_of(all_items(con, c("v1", "datasets")), c("name", "population", "snapshot"))
}

#' @rdname curator_datasets
#' @export
curator_schema <- function(con, dataset = NULL) {
  found <- call_server(con, "GET", c("v1", "datasets", dataset_of(con, dataset)))
  rows <- list()
  for (table in found$tables) {
    for (column in table$columns) {
      rows[[length(rows) + 1]] <- list(
        table = table$name, column = column$name, type = column$type,
        nullable = column$nullable, domain = domain_text(column$domain)
      )
    }
  }
  rows_of(rows, c("table", "column", "type", "nullable", "domain"))
}

domain_text <- function(domain) {
  if (is.null(domain)) return(NA_character_)
  if (!is.null(domain$values)) {
    others <- if (isTRUE(domain$other)) ", other" else ""
    return(paste0(paste(unlist(domain$values), collapse = ", "), others))
  }
  if (!is.null(domain$min)) return(paste0(domain$min, " to ", domain$max))
  if (!is.null(domain$hierarchy)) return(paste("codes of", domain$hierarchy))
  NA_character_
}

#' @rdname curator_datasets
#' @export
curator_budget <- function(con) {
  found <- call_server(con, "GET", c("v1", "budget"))
  rows_of(
    found$projects,
    c("project", "population", "allotment", "spent", "remaining", "expires")
  )
}

#' @param most The most questions to list.
#' @rdname curator_datasets
#' @export
curator_history <- function(con, most = 50) {
  items <- lapply(all_items(con, c("v1", "queries"), most), function(one) {
    c(one, list(epsilon = one$charge$epsilon))
  })
  titles <- c("query_id", "time", "state", "dataset", "project", "epsilon", "sql")
  found <- rows_of(items, titles)
  found$time <- instants(found$time)
  found
}

# The server tells times with their distance from UTC: 2026-05-04T09:30:00.25+00:00.
instants <- function(texts) {
  plain <- sub("Z$", "+0000", sub("([+-]\\d\\d):(\\d\\d)$", "\\1\\2", texts))
  as.POSIXct(plain, format = "%Y-%m-%dT%H:%M:%OS%z", tz = "UTC")
}

#' @rdname curator_datasets
#' @export
curator_releases <- function(con) {
  rows_of(
    all_items(con, c("v1", "releases")),
    c("name", "id", "kind", "strategy", "dataset", "counts", "epsilon", "created")
  )
}

#' @rdname curator_datasets
#' @export
curator_announcements <- function(con) {
  rows_of(
    all_items(con, c("v1", "announcements")),
    c("name", "kind", "strategy", "dataset", "counts", "epsilon", "by")
  )
}

#' @param release Its id or its name, as `curator_releases()` has them.
#' @rdname curator_datasets
#' @export
curator_release <- function(con, release) {
  told <- call_release(con, "GET", release)$manifest
  columns <- c(told$dimensions, Filter(Negate(is.null), list(told$split, told$alphabet)))
  rows_of(columns, c("name", "type", "values"))
}

# A release by its id or name; where there is none, what there is.
call_release <- function(con, method, release, more = NULL, body = NULL) {
  tryCatch(
    call_server(con, method, c("v1", "releases", release, more), body = body),
    curator_not_found = function(e) {
      known <- curator_releases(con)$name
      e$message <- paste0(
        "no release of yours is called ", release, ": ", paste(known, collapse = ", ")
      )
      stop(e)
    }
  )
}

# A row an item; what is missing or null is NA, losses stay text.
rows_of <- function(items, names) {
  columns <- lapply(names, function(name) {
    values <- lapply(items, function(item) item[[name]])
    none <- vapply(values, is.null, NA)
    found <- rep(NA_character_, length(values))
    found[!none] <- vapply(values[!none], function(one) {
      if (is.list(one)) paste(unlist(one), collapse = ", ") else as.character(one)
    }, "")
    if (length(values) && all(vapply(values[!none], is.logical, NA)) && any(!none)) {
      found <- as.logical(found)
    }
    found
  })
  tibble::as_tibble(stats::setNames(columns, names))
}

#' Ask a release, for nothing
#'
#' @param con A connection, of [curator()].
#' @param release Its id or its name, as [curator_releases()] has them.
#' @param sql The question.
#' @param confidence With which each interval holds, from 0.5 to 0.999999.
#' @return As of [curator_query()].
#' @export
curator_ask <- function(con, release, sql, confidence = 0.95) {
  body <- list(sql = paste(sql, collapse = "\n"), confidence = confidence)
  answer_of(call_release(con, "POST", release, "queries", body))
}
