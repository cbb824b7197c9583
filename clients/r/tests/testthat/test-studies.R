body <- function(...) {
  con <- curator("http://127.0.0.1:9", "cur_x", project = "p")
  sent <- curator:::study_body(con, ...)
  as.character(jsonlite::toJSON(sent, auto_unbox = TRUE))
}

test_that("questions are sent with their wishes, and with the common one", {
  questions <- list(
    a = "SELECT 1",
    b = list(sql = "SELECT 2", epsilon = 0.1, weights = c(n = 2)),
    list(sql = "SELECT 3", within = list(relative = "5%", at_least = 10))
  )
  expect_identical(
    body(questions, 40, NULL, 0.5, "never", NULL),
    paste0(
      '{"questions":[{"sql":"SELECT 1","accuracy":{"within":40}},',
      '{"sql":"SELECT 2","epsilon":"0.1","options":{"weights":{"n":2}}},',
      '{"sql":"SELECT 3","accuracy":{"relative":"5%","at_least":10}}],',
      '"rho":"0.5","project":"p","options":{"reuse":"never"}}'
    )
  )
})

test_that("what is no list of questions is refused here", {
  expect_error(body(list(), NULL, NULL, NULL, NULL, NULL), "is a list")
  expect_error(body(list(sql = "SELECT 1"), NULL, NULL, NULL, NULL, NULL), "list of questions")
  expect_error(body(list(list(epsilon = 1)), NULL, NULL, NULL, NULL, NULL), "has sql")
  odd <- list(list(sql = "SELECT 1", acuracy = 3))
  expect_error(body(odd, NULL, NULL, NULL, NULL, NULL), "has sql")
})

test_that("answers are called as the questions were", {
  answer <- list(
    columns = list(list(name = "n", kind = "measure", type = "integer")),
    rows = list(list(12)), noise = list(list(column = "n", half_width_95 = "30")),
    intervals = list(), warnings = list(), query_id = "q_1"
  )
  found <- curator:::study_of(
    list(
      answers = list(answer, answer), query_id = "q_1", charge = list(epsilon = "0.2"),
      remaining = list(project = "4.8"), parts = list()
    ),
    c("one", "two")
  )
  expect_s3_class(found$two, "curator_answer")
  expect_identical(found$two$n_high, 42)
  expect_identical(attr(found, "query_id"), "q_1")
  expect_output(print(found), "## two")
  expect_output(print(found), "paid for all: epsilon 0.2, 4.8 left")
})

test_that("a plan says what is measured, and how wide each question is", {
  plan <- structure(
    list(
      epsilon = "0.2", one_by_one = list(epsilon = "0.3"), affordable = TRUE,
      remaining = list(project = "5"),
      parts = list(list(
        tables = list(list(sql = "SELECT sex,\n COUNT(*) FROM t", epsilon = "0.2")),
        questions = list(0, 1)
      )),
      questions = list(
        list(half_widths = list(list(column = "n", least = "9", greatest = "12"))),
        list(half_widths = list())
      )
    ),
    class = "curator_study_plan", called = c("by_sex", "")
  )
  expect_output(print(plan), "epsilon 0.2 (one by one 0.3), of 5 left", fixed = TRUE)
  expect_output(print(plan), "measured: SELECT sex, COUNT(*) FROM t (epsilon 0.2)", fixed = TRUE)
  expect_output(print(plan), "by_sex: n +/- 12", fixed = TRUE)
  expect_output(print(plan), "[2]: as it is drawn", fixed = TRUE)
})
