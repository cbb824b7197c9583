"""What a server says of questions: plans, answers, refusals, budgets."""
