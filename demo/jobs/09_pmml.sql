-- Job 9: the model for a scoring engine that reads PMML.
CREATE TABLE cards AS SELECT train_margin(defaulted, a, margin_options(lambda => 1e-2, loss => 'logistic', exclude => '{id, defaulted}')) AS model FROM applications a;

-- Columns are fields in their own units; a NULL is what the model makes of it; categories that nobody knew are invalid.
SELECT unnest(xpath('//p:DataField/@name', doc, '{{p, http://www.dmg.org/PMML-4_4}}')) AS field FROM (SELECT margin_pmml(model)::xml AS doc FROM cards) AS s;
SELECT unnest(xpath('//p:DerivedField/@name', doc, '{{p, http://www.dmg.org/PMML-4_4}}')) AS derived FROM (SELECT margin_pmml(model)::xml AS doc FROM cards) AS s;
SELECT unnest(xpath('//p:MiningField[@name="purpose"]', doc, '{{p, http://www.dmg.org/PMML-4_4}}')) AS treatment FROM (SELECT margin_pmml(model)::xml AS doc FROM cards) AS s;

-- To a file:  psql -At -c 'SELECT margin_pmml(model) FROM cards' > card.pmml  (COPY would write \n for the ends of lines.)

-- Names are those of the columns; and what PMML has no words for is said.
SELECT margin_pmml(model, '{a,b}') FROM cards;
SELECT margin_pmml(m) FROM (SELECT train_margin(defaulted, ARRAY[income / 50.0, debt / 20.0], '{"lambda": 1e-4, "kernel": "rbf"}') AS m FROM applications WHERE id <= 200) AS s;
SELECT margin_pmml(m) FROM (SELECT train_margin(defaulted, ARRAY[income, debt], '{"norm": 1, "learners": "stumps", "max_iterations": 3}') AS m FROM applications WHERE id <= 200) AS s;

-- Back again: a model of numbers, with the loss and the lambda that the document does not say.
SELECT margin_from_pmml(margin_pmml(model), 'logistic', 1e-2) FROM cards;
SELECT (back).weights = (m).weights AS same_bits
  FROM (SELECT m, margin_from_pmml(margin_pmml(m), 'logistic', 1e-2) AS back FROM (SELECT train_margin(defaulted, ARRAY[income, debt], '{"lambda": 0.01, "loss": "logistic"}') AS m FROM applications) AS s) AS t;
