reply <- function(...) {
  told <- list(
    columns = list(
      list(name = "day", kind = "group", type = "date"),
      list(name = "seen", kind = "group", type = "timestamp"),
      list(name = "died", kind = "group", type = "boolean"),
      list(name = "n", kind = "measure", type = "integer", unit = "rows"),
      list(name = "mean", kind = "measure", type = "decimal")
    ),
    rows = list(
      list("2024-05-01", "2024-05-01T09:30:00", TRUE, 12, "3.500000"),
      list(NULL, NULL, NULL, -4, NULL)
    ),
    noise = list(
      list(column = "n", half_width_95 = "30"),
      list(column = "mean", part = "sum", half_width_95 = "7"),
      list(column = "mean", part = "count", half_width_95 = "30")
    ),
    intervals = list(list(column = "mean", rows = list(list("1.25", NULL), NULL))),
    warnings = list(list(code = "small", detail = "few")),
    charge = list(epsilon = "0.1"), query_id = "q_1", remaining = list(project = "4.9")
  )
  others <- list(...)
  told[names(others)] <- others
  curator:::answer_of(told)
}

test_that("columns have their types, and NULL is NA", {
  found <- reply()
  expect_s3_class(found, c("curator_answer", "tbl_df"), exact = FALSE)
  expect_identical(found$day, as.Date(c("2024-05-01", NA)))
  expect_identical(format(found$seen[1], "%H:%M"), "09:30")
  expect_identical(found$died, c(TRUE, NA))
  expect_identical(found$n, c(12, -4))
  expect_identical(found$mean, c(3.5, NA))
})

test_that("intervals stand beside what is noisy", {
  found <- reply()
  expect_identical(found$n_low, c(0, 0))
  expect_identical(found$n_high, c(42, 30))
  expect_identical(found$mean_low, c(1.25, NA))
  expect_identical(found$mean_high, c(NA_real_, NA_real_))
  expect_null(found$day_low)
})

test_that("an answer without rows has its columns", {
  found <- reply(rows = list(), intervals = list())
  expect_identical(nrow(found), 0L)
  expect_identical(names(found)[4:6], c("n", "n_low", "n_high"))
})

test_that("it prints its price and its notes", {
  expect_output(print(reply()), "epsilon 0.1, 4.9 left")
  expect_output(print(reply()), "note: few")
})

test_that("intervals of another confidence say which", {
  asked <- list(list(column = "mean", confidence = "0.999", rows = list(NULL, NULL)))
  expect_output(print(reply(intervals = asked)), "intervals hold 99.9 %")
  expect_output(print(reply()), "intervals hold 95 %")
})

test_that("a plan tells what an average or a quantile may be off by", {
  told <- function(of, ...) {
    curator:::expected_words(list(column = "m", of = of, confidence = "0.95",
      counted = list(100, 100000), half_widths = list(...)))
  }
  expect_identical(
    told("value", NULL, "0.889850"),
    "m, if a group has 100: anything; 100,000: +/- 0.89 (95 %)"
  )
  expect_match(told("share", NULL, "0.43944"), "100,000: +/- 44 % of its values", fixed = TRUE)
})

test_that("weights, bounds of tables and a wish in full are sent", {
  con <- curator("http://127.0.0.1:9", "cur_x")
  bounds <- curator:::bounds_of(NULL, 2, c(encounters = 5))
  wish <- list(within = 20, confidence = 0.99, at_most = 0.5)
  sent <- curator:::question(con, "SELECT 1", NULL, wish, NULL, NULL, "release", NULL,
    c(n = 2), bounds)
  expect_identical(
    as.character(jsonlite::toJSON(sent, auto_unbox = TRUE)),
    paste0(
      '{"sql":"SELECT 1",',
      '"accuracy":{"within":20,"confidence":0.99,"at_most":"0.5"},',
      '"options":{"prefer":"release","weights":{"n":2},',
      '"bounds":{"max_groups_per_unit":2,"tables":{"encounters":5}}}}'
    )
  )
  average <- curator:::wish(list(within = 0.5, rows = 1e5))
  expect_identical(
    as.character(jsonlite::toJSON(average, auto_unbox = TRUE)),
    '{"within":0.5,"rows":100000}'
  )
  expect_error(curator:::members(5), "have names")
})

test_that("long names on the axis are slanted", {
  skip_if_not_installed("ggplot2")
  guide <- function(names) {
    columns <- list(list(name = "g", kind = "group", type = "text"),
      list(name = "n", kind = "measure", type = "integer"))
    drawn <- ggplot2::autoplot(reply(columns = columns, intervals = list(),
      rows = lapply(names, function(one) list(one, 1))))
    drawn$scales$get_scales("x")
  }
  expect_null(guide(c("F", "M")))
  expect_false(is.null(guide(strrep(letters[1:8], 10))))
})

test_that("it is drawn with its intervals", {
  skip_if_not_installed("ggplot2")
  drawn <- ggplot2::autoplot(reply(), "n")
  expect_s3_class(drawn, "ggplot")
  expect_error(ggplot2::autoplot(reply(), "m"), "no measure is called m")
})

test_that("a number is sent as it is written", {
  expect_identical(curator:::decimal_text(0.1), "0.1")
  expect_identical(curator:::decimal_text(1e-6), "0.000001")
  expect_identical(curator:::decimal_text("0.25"), "0.25")
  expect_identical(curator:::decimal_text(3L), "3")
})

test_that("keys differ, and random numbers go on as before", {
  set.seed(7)
  first <- runif(1)
  set.seed(7)
  keys <- replicate(50, curator:::new_key())
  expect_identical(runif(1), first)
  expect_length(unique(keys), 50)
  expect_true(all(grepl("^[!-~]{20,255}$", keys)))
})

test_that("a refusal has the class of its type, and says what to do", {
  problem <- list(type = "unknown_column", detail = "no column agee", line = 1, column = 8,
    hint = "did you mean age?")
  found <- tryCatch(curator:::refuse(problem, 400), curator_unknown_column = identity)
  expect_identical(found$status, 400)
  expect_match(conditionMessage(found), "line 1, column 8")
  expect_match(conditionMessage(found), "did you mean age?")
  expect_error(curator:::refuse(NULL, 502), "status 502", class = "curator_error")
})

test_that("columns are called as they are, without backticks", {
  columns <- list(list(name = "next", kind = "group", type = "text"),
    list(name = "n", kind = "measure", type = "integer"))
  found <- reply(columns = columns, rows = list(list("ICU", 3)), intervals = list())
  expect_identical(names(found), c("next", "n", "n_low", "n_high"))
  expect_false(any(grepl("`", capture.output(print(found)))))
  expect_output(print(found), "next")
})

test_that("a lost connection is an error of this package", {
  con <- curator("http://127.0.0.1:9", "cur_x")
  lost <- tryCatch(curator:::unreached(con$url, "refused"), curator_error = identity)
  expect_s3_class(lost, "curator_connection_error")
  expect_identical(conditionMessage(lost), "no reply from http://127.0.0.1:9: refused")
  skip_on_cran() # it is tried for some seconds
  expect_error(curator_datasets(con), "no reply from", class = "curator_connection_error")
})

test_that("times of the history are instants", {
  found <- curator:::instants(
    c("2026-05-04T09:30:00+00:00", "2026-05-04T11:30:00.5+02:00", "2026-05-04T09:30:00Z", NA)
  )
  expect_s3_class(found, "POSIXct")
  expect_identical(attr(found, "tzone"), "UTC")
  expect_equal(as.numeric(found - found[1], units = "secs"), c(0, 0.5, 0, NA))
  expect_s3_class(curator:::instants(character(0)), "POSIXct")
})

test_that("a question says epsilon or within, and a connection where it is", {
  con <- curator("http://127.0.0.1:9/", "cur_x", dataset = "d")
  expect_identical(con$url, "http://127.0.0.1:9")
  expect_error(curator_plan(con, "SELECT 1"), "epsilon, or within")
  expect_error(curator_plan(con, "SELECT 1", epsilon = 1, within = 2), "one of them")
  expect_error(curator("http://x", "a b"), "the key is none")
  expect_error(curator(url = "", key = "k"), "CURATOR_URL")
  expect_output(print(con), "127.0.0.1:9")
  expect_false(any(grepl("cur_x", capture.output(print(con)))))
})
