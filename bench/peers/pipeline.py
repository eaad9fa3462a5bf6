# From a CSV file to a stored model: run in the repository's directory. bench/peers/pipeline.sql does the same.
import pickle

import pandas
from sklearn.compose import ColumnTransformer
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import accuracy_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

table = pandas.read_csv("demo/data/abalone.csv")
label = table.pop("rings") > 9
numbers = table.select_dtypes("number").columns
texts = table.select_dtypes("object").columns
encoder = ColumnTransformer([
    ("numbers", make_pipeline(SimpleImputer(add_indicator=True), StandardScaler()), numbers),
    ("texts", OneHotEncoder(handle_unknown="ignore"), texts),
])
model = make_pipeline(encoder, LogisticRegression(C=1 / (1e-3 * len(table)))).fit(table, label)
with open("/dev/null", "wb") as file:
    pickle.dump(model, file)
print(accuracy_score(label, model.predict(table)))
