"""Linear chains: CRF, SVM and naive Bayes differ in training alone."""
