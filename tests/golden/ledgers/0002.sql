BEGIN TRANSACTION;
CREATE TABLE alembic_version (
	version_num VARCHAR(32) NOT NULL, 
	CONSTRAINT alembic_version_pkc PRIMARY KEY (version_num)
);
INSERT INTO "alembic_version" VALUES('0002');
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
INSERT INTO "chain" VALUES(1,'admin','2026-11-21T11:11:32.860277+00:00','{"action":"ledger.create","actor":"local:test","facts":{"ledger_id":"d6e7f0cc240ed0156bb2fb6a848ecede80d9414bf532059bc42f955f3eb9982b"}}','94ff1e4ceb7b7d85d5e6a639f7e3aa00d28db092f245647b66968413f8622da4');
INSERT INTO "chain" VALUES(2,'admin','2026-11-21T11:11:32.867212+00:00','{"action":"setup","actor":"local:test","changes":[],"facts":{},"limits":{"population:people":2000000000,"project:study":2000000000}}','768117c5110cb8fcb6714cc7cda62b5f3f8df24a538805c11d790f1b07267ffd');
INSERT INTO "chain" VALUES(3,'charge','2026-11-21T11:11:32.872129+00:00','{"dataset":"clinic","fingerprint":"f","idempotency_key":"k0","nano_epsilon":500000000,"population":"people","principal":"ada","private_history":false,"project":"study","query_id":"q0","question":"how many","request":"{}","scopes":["population:people","project:study"],"snapshot":"s1"}','d661b473d1bd1d5b55691a392c72b0645da11fdcf854908072bb9d5fbc511d06');
INSERT INTO "chain" VALUES(4,'answered','2026-11-21T11:11:32.877492+00:00','{"query_id":"q0","sha256":"a7937b64b8caa58f03721bb6bacf5c78cb235febe0e70b1b84cd99541461a08e"}','b3bfc1903dd8d5ed760f3a6f49bcb1fe136e7b331360f8247b1f52a31a5737f9');
INSERT INTO "chain" VALUES(5,'charge','2026-11-21T11:11:32.880698+00:00','{"dataset":"clinic","fingerprint":"f","idempotency_key":"k1","nano_epsilon":500000000,"population":"people","principal":"ada","private_history":false,"project":"study","query_id":"q1","question":"how many","request":"{}","scopes":["population:people","project:study"],"snapshot":"s1"}','2d92868207582fe54cf58f87ab9df4408b3bf1eb3fa7f326b27e2b9dc095e509');
INSERT INTO "chain" VALUES(6,'answered','2026-11-21T11:11:32.883793+00:00','{"query_id":"q1","sha256":"16367aacb67a4a017c8da8ab95682ccb390863780f7114dda0a0e0c55644c7c4"}','07ffaa1b8f148c4bef6d3bb45e5b2f01b507788f47d3949ddb3a28a602115315');
INSERT INTO "chain" VALUES(7,'charge','2026-11-21T11:11:32.887186+00:00','{"dataset":"clinic","fingerprint":"f","idempotency_key":"k2","nano_epsilon":500000000,"population":"people","principal":"ada","private_history":false,"project":"study","query_id":"q2","question":"how many","request":"{}","scopes":["population:people","project:study"],"snapshot":"s1"}','c196c0408dddf95d05af31560af2c4172a58229703674d04cc3b84da5c99edca');
INSERT INTO "chain" VALUES(8,'failed','2026-11-21T11:11:32.889944+00:00','{"query_id":"q2"}','bedd534e01de388fb2c8aa634550e2a7d8fb82c906aa8a987899694983ca182c');
INSERT INTO "chain" VALUES(9,'free','2026-11-21T11:11:32.892011+00:00','{"dataset":"clinic","fingerprint":"f","idempotency_key":"k3","nano_epsilon":500000000,"population":"people","principal":"ada","private_history":false,"project":"study","query_id":"q3","question":"how many","request":"{}","scopes":["population:people","project:study"],"sha256":"b4c9e14061c2fd453b36700e3b0da008db2189c711ac629f0f583089164e267d","snapshot":"s1","source_query_id":"q0"}','e806a6df9c0be41adf40a2c2dbc78be493a4771fd3756903ee68a0f077029427');
INSERT INTO "chain" VALUES(10,'charge','2026-11-21T11:11:32.895647+00:00','{"dataset":"clinic","fingerprint":"f","idempotency_key":"k4","nano_epsilon":500000000,"population":"people","principal":"ada","private_history":false,"project":"study","query_id":"q4","question":"how many","request":"{}","scopes":["population:people","project:study"],"snapshot":"s1"}','51400f81768c9f49659c0ba721d73f3a5b1f51c83144042dd06e3a55ed497a72');
INSERT INTO "chain" VALUES(11,'refused','2026-11-21T11:11:32.899336+00:00','{"code":"budget_exceeded","dataset":"clinic","nano_epsilon":500000000,"population":"people","principal":"ada","project":"study"}','b392291fa46d8cf4f09b860f4bcd54495c221d78121af1bb8219e9d8cd22842f');
INSERT INTO "chain" VALUES(12,'admin','2026-11-21T11:11:32.909588+00:00','{"action":"people","actor":"local:test","changes":[{"insert":{"created":"2026-11-20T10:00:00.000000+00:00","declaration":"{}","epsilon_max_nano":5000000000,"epsilon_min_nano":1000000,"name":"people","overlap_digest":"0","unit":"patient","unit_type":"integer"},"table":"population"},{"insert":{"active_snapshot":"s1","created":"2026-11-20T10:00:00.000000+00:00","name":"clinic","population":"people"},"table":"dataset"},{"insert":{"created":"2026-11-20T10:00:00.000000+00:00","dataset":"clinic","display":"{}","id":"s1","manifest":"{}","schema":"{}"},"table":"snapshot"},{"insert":{"created":"2026-11-20T10:00:00.000000+00:00","created_by":"local:test","disabled":false,"id":"p_1","name":"ada","role":"analyst"},"table":"principal"},{"insert":{"created":"2026-11-20T10:00:00.000000+00:00","digest":"d1","id":"k_1","issued_by":"local:test","principal":"ada","revoked":false},"table":"key"},{"insert":{"created":"2026-11-20T10:00:00.000000+00:00","created_by":"local:test","expires":null,"id":"j_1","name":"study","population":"people","private_history":false},"table":"project"},{"insert":{"dataset":"clinic","project":"study"},"table":"project_dataset"},{"insert":{"principal":"ada","project":"study"},"table":"project_principal"},{"key":{"id":"k_1"},"table":"key","update":{"revoked":true}}],"facts":{},"limits":{}}','9586ae4990fd398542e29f0f5398873b46009c9981c1b32d62404bbdd2d06634');
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
INSERT INTO "charge" VALUES('q0',3,'2026-11-21T11:11:32.872129+00:00','ada','study','people','clinic','s1',500000000,'how many',0,'k0','f','{}',NULL,'answered',NULL,1);
INSERT INTO "charge" VALUES('q1',5,'2026-11-21T11:11:32.880698+00:00','ada','study','people','clinic','s1',500000000,'how many',0,'k1','f','{}',NULL,'answered',NULL,1);
INSERT INTO "charge" VALUES('q2',7,'2026-11-21T11:11:32.887186+00:00','ada','study','people','clinic','s1',500000000,'how many',0,'k2','f','{}',NULL,'failed',NULL,1);
INSERT INTO "charge" VALUES('q3',9,'2026-11-21T11:11:32.892011+00:00','ada','study','people','clinic','s1',500000000,'how many',0,'k3','f','{}','q0','answered',NULL,1);
INSERT INTO "charge" VALUES('q4',10,'2026-11-21T11:11:32.895647+00:00','ada','study','people','clinic','s1',500000000,'how many',0,'k4','f','{}',NULL,'running','8caae2b2e3e5aab77183859cd9c80032',1);
CREATE TABLE dataset (
	name TEXT NOT NULL, 
	population TEXT NOT NULL, 
	active_snapshot TEXT NOT NULL, 
	created TEXT NOT NULL, 
	PRIMARY KEY (name), 
	FOREIGN KEY(population) REFERENCES population (name)
);
INSERT INTO "dataset" VALUES('clinic','people','s1','2026-11-20T10:00:00.000000+00:00');
CREATE TABLE installation (
	name TEXT NOT NULL, 
	value TEXT NOT NULL, 
	PRIMARY KEY (name)
);
CREATE TABLE "key" (
	id TEXT NOT NULL, 
	principal TEXT NOT NULL, 
	digest TEXT NOT NULL, 
	revoked BOOLEAN NOT NULL, 
	created TEXT NOT NULL, 
	issued_by TEXT NOT NULL, 
	PRIMARY KEY (id), 
	FOREIGN KEY(principal) REFERENCES principal (name), 
	UNIQUE (digest)
);
INSERT INTO "key" VALUES('k_1','ada','d1',1,'2026-11-20T10:00:00.000000+00:00','local:test');
CREATE TABLE population (
	name TEXT NOT NULL, 
	unit TEXT NOT NULL, 
	unit_type TEXT NOT NULL, 
	epsilon_min_nano BIGINT NOT NULL, 
	epsilon_max_nano BIGINT NOT NULL, 
	declaration TEXT NOT NULL, 
	overlap_digest TEXT NOT NULL, 
	created TEXT NOT NULL, 
	PRIMARY KEY (name)
);
INSERT INTO "population" VALUES('people','patient','integer',1000000,5000000000,'{}','0','2026-11-20T10:00:00.000000+00:00');
CREATE TABLE principal (
	name TEXT NOT NULL, 
	id TEXT NOT NULL, 
	role TEXT NOT NULL, 
	disabled BOOLEAN NOT NULL, 
	created TEXT NOT NULL, 
	created_by TEXT NOT NULL, 
	PRIMARY KEY (name), 
	CHECK (role IN ('analyst', 'custodian', 'auditor', 'admin')), 
	UNIQUE (id)
);
INSERT INTO "principal" VALUES('ada','p_1','analyst',0,'2026-11-20T10:00:00.000000+00:00','local:test');
CREATE TABLE project (
	name TEXT NOT NULL, 
	id TEXT NOT NULL, 
	population TEXT NOT NULL, 
	expires TEXT, 
	private_history BOOLEAN NOT NULL, 
	created TEXT NOT NULL, 
	created_by TEXT NOT NULL, 
	PRIMARY KEY (name), 
	FOREIGN KEY(population) REFERENCES population (name), 
	UNIQUE (id)
);
INSERT INTO "project" VALUES('study','j_1','people',NULL,0,'2026-11-20T10:00:00.000000+00:00','local:test');
CREATE TABLE project_dataset (
	project TEXT NOT NULL, 
	dataset TEXT NOT NULL, 
	PRIMARY KEY (project, dataset), 
	FOREIGN KEY(dataset) REFERENCES dataset (name), 
	FOREIGN KEY(project) REFERENCES project (name)
);
INSERT INTO "project_dataset" VALUES('study','clinic');
CREATE TABLE project_principal (
	project TEXT NOT NULL, 
	principal TEXT NOT NULL, 
	PRIMARY KEY (project, principal), 
	FOREIGN KEY(principal) REFERENCES principal (name), 
	FOREIGN KEY(project) REFERENCES project (name)
);
INSERT INTO "project_principal" VALUES('study','ada');
CREATE TABLE snapshot (
	id TEXT NOT NULL, 
	dataset TEXT NOT NULL, 
	schema TEXT NOT NULL, 
	display TEXT NOT NULL, 
	manifest TEXT NOT NULL, 
	created TEXT NOT NULL, 
	PRIMARY KEY (id), 
	FOREIGN KEY(dataset) REFERENCES dataset (name)
);
INSERT INTO "snapshot" VALUES('s1','clinic','{}','{}','{}','2026-11-20T10:00:00.000000+00:00');
CREATE INDEX charge_question ON charge (question);
CREATE INDEX charge_state ON charge (state);
COMMIT;
