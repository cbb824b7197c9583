BEGIN TRANSACTION;
CREATE TABLE alembic_version (
	version_num VARCHAR(32) NOT NULL, 
	CONSTRAINT alembic_version_pkc PRIMARY KEY (version_num)
);
INSERT INTO "alembic_version" VALUES('0001');
CREATE TABLE answer (
	query_id TEXT NOT NULL, 
	body BLOB NOT NULL, 
	PRIMARY KEY (query_id), 
	FOREIGN KEY(query_id) REFERENCES charge (query_id)
);
INSERT INTO "answer" VALUES('q0',X'6669727374');
INSERT INTO "answer" VALUES('q1',X'7365636F6E64');
INSERT INTO "answer" VALUES('q3',X'616761696E');
CREATE TABLE budget_counter (
	scope TEXT NOT NULL, 
	nano_epsilon BIGINT NOT NULL, 
	PRIMARY KEY (scope), 
	CHECK (nano_epsilon >= 0 AND nano_epsilon <= 4611686018427387903)
);
INSERT INTO "budget_counter" VALUES('population:people',2000000000);
INSERT INTO "budget_counter" VALUES('project:study',2000000000);
CREATE TABLE budget_limit (
	scope TEXT NOT NULL, 
	nano_epsilon BIGINT NOT NULL, 
	PRIMARY KEY (scope), 
	CHECK (nano_epsilon >= 0 AND nano_epsilon <= 4611686018427387903)
);
INSERT INTO "budget_limit" VALUES('population:people',2000000000);
INSERT INTO "budget_limit" VALUES('project:study',2000000000);
CREATE TABLE chain (
	seq INTEGER NOT NULL, 
	kind TEXT NOT NULL, 
	time TEXT NOT NULL, 
	body TEXT NOT NULL, 
	hash TEXT NOT NULL, 
	PRIMARY KEY (seq)
);
INSERT INTO "chain" VALUES(1,'admin','2026-11-21T11:11:32.779725+00:00','{"action":"ledger.create","actor":"local:test","facts":{"ledger_id":"5b250657ff508578281c0e0a5df51c920a4a771941dc76ad7266c1ffbde64416"}}','b9f6d9c9baad8f2b237a2b9bc748d5bdf323b1596bc8b2972904e40fb2c5c67f');
INSERT INTO "chain" VALUES(2,'admin','2026-11-21T11:11:32.787515+00:00','{"action":"setup","actor":"local:test","changes":[],"facts":{},"limits":{"population:people":2000000000,"project:study":2000000000}}','6613657e54387ad4d73d73589c4dd8fbb581e4cb41a1dd8fafe8f96616d47f87');
INSERT INTO "chain" VALUES(3,'charge','2026-11-21T11:11:32.793115+00:00','{"dataset":"clinic","fingerprint":"f","idempotency_key":"k0","nano_epsilon":500000000,"population":"people","principal":"ada","private_history":false,"project":"study","query_id":"q0","question":"how many","request":"{}","scopes":["population:people","project:study"],"snapshot":"s1"}','7779bc18eee7282120120d7f2de7be3e924b2218f1e622336827730cd5810b70');
INSERT INTO "chain" VALUES(4,'answered','2026-11-21T11:11:32.799116+00:00','{"query_id":"q0","sha256":"a7937b64b8caa58f03721bb6bacf5c78cb235febe0e70b1b84cd99541461a08e"}','4dabf240a36f6ee9fc3bbc47d0d8d4922e2c3b678effbc3c4d515e236dd0344a');
INSERT INTO "chain" VALUES(5,'charge','2026-11-21T11:11:32.802615+00:00','{"dataset":"clinic","fingerprint":"f","idempotency_key":"k1","nano_epsilon":500000000,"population":"people","principal":"ada","private_history":false,"project":"study","query_id":"q1","question":"how many","request":"{}","scopes":["population:people","project:study"],"snapshot":"s1"}','a15d0350927387e8f8718a75b50d75db8158a5c937f4da0d49b528cbbe2f0095');
INSERT INTO "chain" VALUES(6,'answered','2026-11-21T11:11:32.806050+00:00','{"query_id":"q1","sha256":"16367aacb67a4a017c8da8ab95682ccb390863780f7114dda0a0e0c55644c7c4"}','a007cb1048021ba5baf203c55f824b8ab37df94dcc1d17ae507fdeb2e0b89bb9');
INSERT INTO "chain" VALUES(7,'charge','2026-11-21T11:11:32.809453+00:00','{"dataset":"clinic","fingerprint":"f","idempotency_key":"k2","nano_epsilon":500000000,"population":"people","principal":"ada","private_history":false,"project":"study","query_id":"q2","question":"how many","request":"{}","scopes":["population:people","project:study"],"snapshot":"s1"}','c9ba4e0e06049b45540f71a5560e81c017991ac0fc383c105896fdb28fc1df6e');
INSERT INTO "chain" VALUES(8,'failed','2026-11-21T11:11:32.812142+00:00','{"query_id":"q2"}','64bdb530b298c00efd2aca21c724a94e83ca066d87d0a6fb51eea469ca917bf9');
INSERT INTO "chain" VALUES(9,'free','2026-11-21T11:11:32.814251+00:00','{"dataset":"clinic","fingerprint":"f","idempotency_key":"k3","nano_epsilon":500000000,"population":"people","principal":"ada","private_history":false,"project":"study","query_id":"q3","question":"how many","request":"{}","scopes":["population:people","project:study"],"sha256":"b4c9e14061c2fd453b36700e3b0da008db2189c711ac629f0f583089164e267d","snapshot":"s1","source_query_id":"q0"}','e7f1d2f2b7a0533de7aad9323ab793c01b4f570474d7651592dddf1970d8c5dc');
INSERT INTO "chain" VALUES(10,'charge','2026-11-21T11:11:32.818566+00:00','{"dataset":"clinic","fingerprint":"f","idempotency_key":"k4","nano_epsilon":500000000,"population":"people","principal":"ada","private_history":false,"project":"study","query_id":"q4","question":"how many","request":"{}","scopes":["population:people","project:study"],"snapshot":"s1"}','5dcc069f343a6cc62ef730ae190f85e07fb771cdeb4dd65d9749b17b943d873c');
INSERT INTO "chain" VALUES(11,'refused','2026-11-21T11:11:32.821766+00:00','{"code":"budget_exceeded","dataset":"clinic","nano_epsilon":500000000,"population":"people","principal":"ada","project":"study"}','f4df97b8235720d85587fa1dcc9b3b358daaefe9150e8a042f919d5e918f739c');
CREATE TABLE charge (
	query_id TEXT NOT NULL, 
	seq BIGINT NOT NULL, 
	time TEXT NOT NULL, 
	principal TEXT NOT NULL, 
	project TEXT NOT NULL, 
	population TEXT NOT NULL, 
	dataset TEXT NOT NULL, 
	snapshot TEXT NOT NULL, 
	nano_epsilon BIGINT NOT NULL, 
	question TEXT NOT NULL, 
	private_history BOOLEAN NOT NULL, 
	idempotency_key TEXT, 
	fingerprint TEXT, 
	request TEXT NOT NULL, 
	source_query_id TEXT, 
	state TEXT NOT NULL, 
	lease_boot TEXT, 
	attempts INTEGER NOT NULL, 
	PRIMARY KEY (query_id), 
	CHECK (nano_epsilon >= 0 AND nano_epsilon <= 4611686018427387903), 
	CHECK (state IN ('running', 'answered', 'failed')), 
	UNIQUE (principal, idempotency_key), 
	UNIQUE (seq)
);
INSERT INTO "charge" VALUES('q0',3,'2026-11-21T11:11:32.793115+00:00','ada','study','people','clinic','s1',500000000,'how many',0,'k0','f','{}',NULL,'answered',NULL,1);
INSERT INTO "charge" VALUES('q1',5,'2026-11-21T11:11:32.802615+00:00','ada','study','people','clinic','s1',500000000,'how many',0,'k1','f','{}',NULL,'answered',NULL,1);
INSERT INTO "charge" VALUES('q2',7,'2026-11-21T11:11:32.809453+00:00','ada','study','people','clinic','s1',500000000,'how many',0,'k2','f','{}',NULL,'failed',NULL,1);
INSERT INTO "charge" VALUES('q3',9,'2026-11-21T11:11:32.814251+00:00','ada','study','people','clinic','s1',500000000,'how many',0,'k3','f','{}','q0','answered',NULL,1);
INSERT INTO "charge" VALUES('q4',10,'2026-11-21T11:11:32.818566+00:00','ada','study','people','clinic','s1',500000000,'how many',0,'k4','f','{}',NULL,'running','afad9c0a325cd3c00d423d411fe16fa5',1);
CREATE INDEX charge_question ON charge (question);
CREATE INDEX charge_state ON charge (state);
COMMIT;
