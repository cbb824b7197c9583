# A reply's rows as a tibble, intervals beside what is noisy.
answer_of <- function(document) {
  columns <- document$columns
  found <- list()
  for (place in seq_along(columns)) {
    column <- columns[[place]]
    values <- lapply(document$rows, function(row) row[[place]])
    found[[column$name]] <- typed(values, column$type)
    if (identical(column$kind, "measure")) {
      ends <- ends_of(document, column, values)
      if (!is.null(ends)) {
        found[[paste0(column$name, "_low")]] <- ends$low
        found[[paste0(column$name, "_high")]] <- ends$high
      }
    }
  }
  tibble::new_tibble(
    found,
    nrow = length(document$rows),
    class = "curator_answer",
    query_id = document$query_id,
    release = document$release,
    epsilon = if (is.null(document$charge)) "0" else document$charge$epsilon,
    rho = document$charge$rho,
    snapshot = document$snapshot,
    remaining = document$remaining$project,
    noise = document$noise,
    warnings = vapply(document$warnings, function(one) one$detail, ""),
    derivation = document$derivation,
    confidence = confidence_of(document),
    columns = columns
  )
}

# As a text, as the reply has it: of the first intervals, which are all alike.
confidence_of <- function(document) {
  if (length(document$intervals)) document$intervals[[1]]$confidence else "0.95"
}

percent <- function(confidence) {
  number <- if (is.null(confidence)) 0.95 else as.numeric(confidence)
  paste(format(100 * number, digits = 8), "%")
}

typed <- function(values, type) {
  none <- vapply(values, is.null, NA)
  text <- rep(NA_character_, length(values))
  text[!none] <- vapply(values[!none], as.character, "")
  switch(type,
    integer = ,
    decimal = as.numeric(text),
    boolean = as.logical(text),
    date = as.Date(text),
    timestamp = as.POSIXct(sub("T", " ", text, fixed = TRUE), tz = "UTC"),
    text
  )
}

# The ends that the reply tells, else the number and its half-width on both sides; of
# counts the possible ones.
ends_of <- function(document, column, values) {
  told <- Filter(function(one) identical(one$column, column$name), document$intervals)
  if (length(told)) {
    rows <- told[[1]]$rows
    end <- function(n) typed(lapply(rows, function(pair) {
      if (is.null(pair)) NULL else pair[[n]]
    }), column$type)
    return(list(low = end(1), high = end(2)))
  }
  noise <- Filter(function(one) {
    identical(one$column, column$name) && is.null(one$part) && is.null(one$per)
  }, document$noise)
  if (!length(noise)) return(NULL)
  width <- as.numeric(noise[[1]]$half_width_95)
  numbers <- typed(values, column$type)
  if (!is.null(column$unit)) { # counts alone have one, and are never negative
    return(list(low = pmax(numbers - width, 0), high = pmax(numbers, 0) + width))
  }
  list(low = numbers - width, high = numbers + width)
}

#' @export
print.curator_answer <- function(x, ...) {
  NextMethod()
  rho <- attr(x, "rho")
  paid <- if (is.null(rho)) paste("epsilon", attr(x, "epsilon")) else paste("rho", rho)
  cat("# ", paid, if (!is.null(attr(x, "remaining"))) {
    paste0(", ", attr(x, "remaining"), " left")
  }, "; intervals hold ", percent(attr(x, "confidence")), "\n", sep = "")
  for (one in attr(x, "warnings")) cat("# note: ", one, "\n", sep = "")
  invisible(x)
}

# Names stand over the columns as they are: `next` is a column's name, and to type it
# takes backticks, but they are no part of it.
#' @importFrom pillar ctl_new_pillar
#' @export
ctl_new_pillar.curator_answer <- function(controller, x, width, ..., title = NULL) {
  NextMethod(title = if (!is.null(title)) gsub("^`|`$", "", title))
}

# Letters of names that stand beside one another on an axis; more of them are slanted.
WIDE <- 60

#' Draw an answer with its intervals
#'
#' A point and its interval for each group; lines where the first group column is a
#' date or a number, a panel for each value of a second one.
#'
#' @param object An answer of [curator_query()] or [curator_ask()].
#' @param measure Which noisy column; the first, where left out.
#' @param ... Not used.
#' @return A ggplot, to add to.
#' @exportS3Method ggplot2::autoplot
autoplot.curator_answer <- function(object, measure = NULL, ...) {
  columns <- attr(object, "columns")
  kinds <- vapply(columns, function(one) one$kind, "")
  names <- vapply(columns, function(one) one$name, "")
  groups <- names[kinds == "group"]
  if (is.null(measure)) measure <- names[kinds == "measure"][1]
  if (!measure %in% names[kinds == "measure"]) {
    stop("no measure is called ", measure, call. = FALSE)
  }
  data <- as.data.frame(object)
  x <- if (length(groups)) groups[1] else "all"
  if (!length(groups)) data$all <- ""
  ordered <- is.numeric(data[[x]]) || inherits(data[[x]], c("Date", "POSIXct"))
  if (!ordered) data[[x]] <- factor(data[[x]], unique(data[[x]]), exclude = NULL)
  low <- paste0(measure, "_low")
  high <- paste0(measure, "_high")
  plot <- ggplot2::ggplot(data, ggplot2::aes(.data[[x]], .data[[measure]]))
  if (all(c(low, high) %in% names(data))) {
    ends <- ggplot2::aes(ymin = .data[[low]], ymax = .data[[high]])
    plot <- plot + if (ordered) {
      ggplot2::geom_ribbon(ends, alpha = 0.25)
    } else {
      ggplot2::geom_errorbar(ends, width = 0.2)
    }
  }
  if (ordered) plot <- plot + ggplot2::geom_line()
  held <- paste("noisy; bars and bands hold", percent(attr(object, "confidence")))
  plot <- plot + ggplot2::geom_point() +
    ggplot2::labs(x = x, y = measure, caption = held)
  if (!ordered && sum(nchar(levels(data[[x]])), na.rm = TRUE) > WIDE) {
    plot <- plot + ggplot2::scale_x_discrete(guide = ggplot2::guide_axis(angle = 45))
  }
  if (length(groups) > 1) plot <- plot + ggplot2::facet_wrap(groups[-1])
  plot
}

utils::globalVariables(".data")
