BEGIN TRANSACTION;
CREATE TABLE alembic_version (
	version_num VARCHAR(32) NOT NULL, 
	CONSTRAINT alembic_version_pkc PRIMARY KEY (version_num)
);
INSERT INTO "alembic_version" VALUES('0012');
CREATE TABLE answer (
	query_id TEXT NOT NULL, 
	body BLOB NOT NULL, spliced_from TEXT, 
	PRIMARY KEY (query_id), 
	FOREIGN KEY(query_id) REFERENCES charge (query_id)
);
INSERT INTO "answer" VALUES('q0',X'6669727374',NULL);
INSERT INTO "answer" VALUES('q1',X'7365636F6E64',NULL);
INSERT INTO "answer" VALUES('q3',X'616761696E',NULL);
INSERT INTO "answer" VALUES('q4',X'7B22736861323536223A202261316265376665653462336132626436323561646464346138626162636566336431626563653336353963613132373366636235633931396333346465393239222C2022706965636573223A205B223C222C205B302C20355D2C20223E225D7D','q0');
CREATE TABLE boot (
	id TEXT NOT NULL, 
	renewed_ms BIGINT NOT NULL, since_ms BIGINT, host TEXT, place TEXT, 
	PRIMARY KEY (id)
);
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
INSERT INTO "chain" VALUES(1,'admin','2026-11-29T17:13:26.334388+00:00','{"action":"ledger.create","actor":"local:test","facts":{"ledger_id":"40dcd9a16c89607e2a5eb7af352f6aca7c07f9a2c40d869ff49ab765f90f4de6"}}','af606570231146dce09ea487e1f0ce5e85a6d26d4d5a564d05dd65daf6a4f021');
INSERT INTO "chain" VALUES(2,'admin','2026-11-29T17:13:26.360421+00:00','{"action":"setup","actor":"local:test","changes":[],"facts":{},"limits":{"population:people":2000000000,"project:study":2000000000}}','6cb9457f1494bf967601dc2a06b22136b2b755a78c82f6d38f3a3a5fd6b986d4');
INSERT INTO "chain" VALUES(3,'charge','2026-11-29T17:13:26.374027+00:00','{"dataset":"clinic","fingerprint":"f","idempotency_key":"k0","nano_epsilon":500000000,"population":"people","principal":"ada","private_history":false,"project":"study","query_id":"q0","question":"how many","request":"{}","scopes":["population:people","project:study"],"snapshot":"s1"}','cc136c5b7fd71f29016669449be6f5acd060bb0f4129f9ee8a6a84411a1d632c');
INSERT INTO "chain" VALUES(4,'answered','2026-11-29T17:13:26.392215+00:00','{"query_id":"q0","salt":"febae4033c3b6b91c1e4e18a15d5b04d","sha256":"a7937b64b8caa58f03721bb6bacf5c78cb235febe0e70b1b84cd99541461a08e"}','7f45d5fff68988fa3b1701a9d5042ccafbb4ab10ca7445519366566229f091ac');
INSERT INTO "chain" VALUES(5,'charge','2026-11-29T17:13:26.403394+00:00','{"dataset":"clinic","fingerprint":"f","idempotency_key":"k1","nano_epsilon":500000000,"population":"people","principal":"ada","private_history":false,"project":"study","query_id":"q1","question":"how many","request":"{}","scopes":["population:people","project:study"],"snapshot":"s1"}','577a50b1b0ca6e91b38d8c3af38d1360b0bb1a7d0f2139ca0c8da85783971054');
INSERT INTO "chain" VALUES(6,'answered','2026-11-29T17:13:26.412147+00:00','{"query_id":"q1","salt":"39bafe5447ed4345bb4d9ae5242065e8","sha256":"16367aacb67a4a017c8da8ab95682ccb390863780f7114dda0a0e0c55644c7c4"}','4033f02c6bf85a0c4e009d58892a66e690554c27cb9fbbc14bcdfac0e76d85d7');
INSERT INTO "chain" VALUES(7,'charge','2026-11-29T17:13:26.427471+00:00','{"dataset":"clinic","fingerprint":"f","idempotency_key":"k2","nano_epsilon":500000000,"population":"people","principal":"ada","private_history":false,"project":"study","query_id":"q2","question":"how many","request":"{}","scopes":["population:people","project:study"],"snapshot":"s1"}','9225baed91333d410a72d11bf23a6df024821dd80f0f27a5f74d8ec98b9f66d1');
INSERT INTO "chain" VALUES(8,'failed','2026-11-29T17:13:26.445101+00:00','{"query_id":"q2","salt":"1938a37fa96bafbc990657fe63fd21cd"}','4c05aedf7d147e8d611dbeccbc6f59d100722af74f572987cbfc8b3f937d7be7');
INSERT INTO "chain" VALUES(9,'free','2026-11-29T17:13:26.461710+00:00','{"dataset":"clinic","fingerprint":"f","idempotency_key":"k3","nano_epsilon":500000000,"population":"people","principal":"ada","private_history":false,"project":"study","query_id":"q3","question":"how many","request":"{}","salt":"cd8034a01a47173c4401b8aed41f9b7f","scopes":["population:people","project:study"],"sha256":"b4c9e14061c2fd453b36700e3b0da008db2189c711ac629f0f583089164e267d","snapshot":"s1","source_query_id":"q0"}','7af46efa3faa8349ddccf4cbde56004ad4bda368d86bf7efa82b8dfc3d62f1d6');
INSERT INTO "chain" VALUES(10,'free','2026-11-29T17:13:26.516962+00:00','{"dataset":"clinic","fingerprint":"f","idempotency_key":"k4","nano_epsilon":500000000,"population":"people","principal":"ada","private_history":false,"project":"study","query_id":"q4","question":"how many","request":"{}","salt":"98bc54f044bc145925fd9c38255c5cab","scopes":["population:people","project:study"],"sha256":"a1be7fee4b3a2bd625addd4a8babcef3d1bece3659ca1273fcb5c919c34de929","snapshot":"s1","source_query_id":"q0","stored_sha256":"74fc09ce83887a96dbfada53dc37dcba9761cc1de04273e5dc0a21a8a2342414"}','10b8ccc325a6b91feea3d39c7869219a3abd9c2b53849927b63f7fa5a778a2b6');
INSERT INTO "chain" VALUES(11,'charge','2026-11-29T17:13:26.531509+00:00','{"dataset":"clinic","fingerprint":"f","idempotency_key":"k5","nano_epsilon":500000000,"population":"people","principal":"ada","private_history":false,"project":"study","query_id":"q5","question":"how many","request":"{}","scopes":["population:people","project:study"],"snapshot":"s1"}','ded793f3c0490d0766465d33525cfcf24946a261e1b714829686c68e1011c09b');
INSERT INTO "chain" VALUES(12,'refused','2026-11-29T17:13:26.545182+00:00','{"code":"budget_exceeded","dataset":"clinic","nano_epsilon":500000000,"population":"people","principal":"ada","project":"study"}','f41cc7cd9dd451f3ad76254594aa4ebdec2269577c872a1293e01f233b6b8885');
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
	attempts INTEGER NOT NULL, held_boot TEXT, 
	PRIMARY KEY (query_id), 
	CHECK (nano_epsilon >= 0 AND nano_epsilon <= 4611686018427387903), 
	CHECK (state IN ('running', 'answered', 'failed')), 
	UNIQUE (principal, idempotency_key), 
	UNIQUE (seq)
);
INSERT INTO "charge" VALUES('q0',3,'2026-11-29T17:13:26.374027+00:00','ada','study','people','clinic','s1',500000000,'how many',0,'k0','f','{}',NULL,'answered',NULL,1,NULL);
INSERT INTO "charge" VALUES('q1',5,'2026-11-29T17:13:26.403394+00:00','ada','study','people','clinic','s1',500000000,'how many',0,'k1','f','{}',NULL,'answered',NULL,1,NULL);
INSERT INTO "charge" VALUES('q2',7,'2026-11-29T17:13:26.427471+00:00','ada','study','people','clinic','s1',500000000,'how many',0,'k2','f','{}',NULL,'failed',NULL,1,NULL);
INSERT INTO "charge" VALUES('q3',9,'2026-11-29T17:13:26.461710+00:00','ada','study','people','clinic','s1',500000000,'how many',0,'k3','f','{}','q0','answered',NULL,1,NULL);
INSERT INTO "charge" VALUES('q4',10,'2026-11-29T17:13:26.516962+00:00','ada','study','people','clinic','s1',500000000,'how many',0,'k4','f','{}','q0','answered',NULL,1,NULL);
INSERT INTO "charge" VALUES('q5',11,'2026-11-29T17:13:26.531509+00:00','ada','study','people','clinic','s1',500000000,'how many',0,'k5','f','{}',NULL,'running','4577728e65ea6903c3e26691e0892f85',1,NULL);
CREATE TABLE custodian (
	population TEXT NOT NULL, 
	principal TEXT NOT NULL, 
	PRIMARY KEY (population, principal), 
	FOREIGN KEY(population) REFERENCES population (name), 
	FOREIGN KEY(principal) REFERENCES principal (name)
);
CREATE TABLE dataset (
	name TEXT NOT NULL, 
	population TEXT NOT NULL, 
	active_snapshot TEXT NOT NULL, 
	created TEXT NOT NULL, 
	PRIMARY KEY (name), 
	FOREIGN KEY(population) REFERENCES population (name)
);
CREATE TABLE in_flight (
	boot TEXT NOT NULL, 
	principal TEXT NOT NULL, 
	requests INTEGER NOT NULL, 
	PRIMARY KEY (boot, principal)
);
CREATE TABLE installation (
	name TEXT NOT NULL, 
	value TEXT NOT NULL, 
	PRIMARY KEY (name)
);
CREATE TABLE job (
	id TEXT NOT NULL, 
	kind TEXT NOT NULL, 
	parameters TEXT NOT NULL, 
	population TEXT, 
	actor TEXT NOT NULL, 
	created TEXT NOT NULL, 
	state TEXT NOT NULL, 
	attempts INTEGER NOT NULL, 
	lease_boot TEXT, 
	lease_until_ms BIGINT, 
	cancel_requested BOOLEAN NOT NULL, 
	stage TEXT, 
	done BIGINT NOT NULL, 
	total BIGINT, 
	position TEXT, 
	started TEXT, 
	ended TEXT, 
	result TEXT, 
	error TEXT, 
	lineage TEXT NOT NULL, worked_ms BIGINT DEFAULT '0' NOT NULL, 
	PRIMARY KEY (id), 
	CHECK (state IN ('queued', 'running', 'done', 'failed', 'cancelled'))
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
CREATE TABLE linkage (
	id TEXT NOT NULL, 
	population TEXT NOT NULL, 
	name TEXT NOT NULL, 
	file TEXT NOT NULL, 
	opinions INTEGER NOT NULL, 
	job TEXT NOT NULL, 
	created TEXT NOT NULL, 
	created_by TEXT NOT NULL, 
	PRIMARY KEY (id), 
	UNIQUE (population, name)
);
CREATE TABLE linkage_act (
	job TEXT NOT NULL, 
	number INTEGER NOT NULL, 
	kind TEXT NOT NULL CHECK (kind IN ('merge', 'split')), 
	old BIGINT NOT NULL, 
	new BIGINT NOT NULL, 
	records BIGINT NOT NULL, 
	PRIMARY KEY (job, number)
);
CREATE TABLE linkage_decision (
	number INTEGER NOT NULL, 
	id TEXT NOT NULL, 
	linkage TEXT NOT NULL, 
	"left" BIGINT NOT NULL, 
	"right" BIGINT NOT NULL, 
	verdict TEXT NOT NULL CHECK (verdict IN ('match', 'no_match', 'unsure')), 
	created TEXT NOT NULL, 
	created_by TEXT NOT NULL, 
	undone TEXT, 
	undone_by TEXT, 
	PRIMARY KEY (number), 
	UNIQUE (id), 
	FOREIGN KEY(linkage) REFERENCES linkage (id)
);
CREATE TABLE linkage_doubt (
	job TEXT NOT NULL, 
	number INTEGER NOT NULL, 
	"left" BIGINT NOT NULL, 
	"right" BIGINT NOT NULL, 
	score FLOAT NOT NULL, 
	weight FLOAT NOT NULL, 
	reason TEXT NOT NULL, 
	body BLOB NOT NULL, 
	PRIMARY KEY (job, number)
);
CREATE TABLE linkage_run (
	job TEXT NOT NULL, 
	linkage TEXT NOT NULL, 
	number INTEGER NOT NULL, 
	created TEXT NOT NULL, 
	created_by TEXT NOT NULL, 
	file_sha256 TEXT NOT NULL, 
	decisions BIGINT NOT NULL, 
	snapshot TEXT, 
	report TEXT NOT NULL, 
	PRIMARY KEY (job), 
	UNIQUE (linkage, number), 
	FOREIGN KEY(linkage) REFERENCES linkage (id)
);
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
CREATE TABLE project (
	name TEXT NOT NULL, 
	id TEXT NOT NULL, 
	population TEXT NOT NULL, 
	expires TEXT, 
	private_history BOOLEAN NOT NULL, 
	created TEXT NOT NULL, 
	created_by TEXT NOT NULL, purpose TEXT, protocol TEXT, confirm_above TEXT, 
	PRIMARY KEY (name), 
	FOREIGN KEY(population) REFERENCES population (name), 
	UNIQUE (id)
);
CREATE TABLE project_dataset (
	project TEXT NOT NULL, 
	dataset TEXT NOT NULL, 
	PRIMARY KEY (project, dataset), 
	FOREIGN KEY(dataset) REFERENCES dataset (name), 
	FOREIGN KEY(project) REFERENCES project (name)
);
CREATE TABLE project_principal (
	project TEXT NOT NULL, 
	principal TEXT NOT NULL, 
	PRIMARY KEY (project, principal), 
	FOREIGN KEY(principal) REFERENCES principal (name), 
	FOREIGN KEY(project) REFERENCES project (name)
);
CREATE TABLE proposal (
	id TEXT NOT NULL, 
	action TEXT NOT NULL, 
	population TEXT, 
	change TEXT NOT NULL, 
	digest TEXT NOT NULL, 
	proposed_by TEXT NOT NULL, 
	created TEXT NOT NULL, 
	lapses TEXT NOT NULL, 
	state TEXT NOT NULL, 
	decided_by TEXT, 
	decided TEXT, 
	PRIMARY KEY (id), 
	CHECK (state IN ('open', 'approved', 'rejected', 'used'))
);
CREATE TABLE publication (
	id TEXT NOT NULL, 
	name TEXT NOT NULL, 
	population TEXT NOT NULL, 
	dataset TEXT NOT NULL, 
	snapshot TEXT NOT NULL, 
	job TEXT NOT NULL, 
	spec TEXT NOT NULL, 
	public BOOLEAN NOT NULL, 
	readers TEXT NOT NULL, 
	state TEXT NOT NULL, 
	created TEXT NOT NULL, 
	created_by TEXT NOT NULL, 
	manifest_sha256 TEXT, 
	visible TEXT, 
	PRIMARY KEY (id), 
	CHECK (state IN ('begun', 'published', 'withdrawn', 'failed')), 
	FOREIGN KEY(population) REFERENCES population (name), 
	FOREIGN KEY(dataset) REFERENCES dataset (name), 
	FOREIGN KEY(snapshot) REFERENCES snapshot (id), 
	UNIQUE (job)
);
CREATE TABLE rate (
	principal TEXT NOT NULL, 
	full_at_us BIGINT NOT NULL, 
	PRIMARY KEY (principal)
);
CREATE TABLE snapshot (
	id TEXT NOT NULL, 
	dataset TEXT NOT NULL, 
	schema TEXT NOT NULL, 
	display TEXT NOT NULL, 
	manifest TEXT NOT NULL, 
	created TEXT NOT NULL, removed TEXT, 
	PRIMARY KEY (id), 
	FOREIGN KEY(dataset) REFERENCES dataset (name)
);
CREATE TABLE text_begun (
	job TEXT NOT NULL, 
	PRIMARY KEY (job)
);
CREATE TABLE text_collection (
	id TEXT NOT NULL, 
	population TEXT NOT NULL, 
	name TEXT NOT NULL, 
	source TEXT NOT NULL, 
	job TEXT NOT NULL, 
	state TEXT NOT NULL, 
	created TEXT NOT NULL, 
	created_by TEXT NOT NULL, 
	PRIMARY KEY (id), 
	UNIQUE (population, name), 
	CHECK (state IN ('unfinished', 'whole')), 
	UNIQUE (job)
);
CREATE TABLE text_document (
	collection TEXT NOT NULL, 
	number BIGINT NOT NULL, 
	"key" TEXT NOT NULL, 
	characters BIGINT NOT NULL, 
	body BLOB NOT NULL, 
	PRIMARY KEY (collection, number), 
	UNIQUE (collection, "key"), 
	FOREIGN KEY(collection) REFERENCES text_collection (id)
);
CREATE TABLE text_finding (
	collection TEXT NOT NULL, 
	finder TEXT NOT NULL, 
	job TEXT NOT NULL, 
	state TEXT NOT NULL, 
	created TEXT NOT NULL, 
	created_by TEXT NOT NULL, 
	PRIMARY KEY (collection, finder), 
	CHECK (state IN ('unfinished', 'whole')), 
	FOREIGN KEY(collection) REFERENCES text_collection (id)
);
CREATE TABLE text_model (
	id TEXT NOT NULL, 
	population TEXT NOT NULL, 
	name TEXT NOT NULL, 
	spec TEXT NOT NULL, 
	card TEXT NOT NULL, 
	job TEXT NOT NULL, 
	created TEXT NOT NULL, 
	created_by TEXT NOT NULL, 
	body BLOB NOT NULL, 
	PRIMARY KEY (id), 
	UNIQUE (population, name), 
	UNIQUE (job)
);
CREATE TABLE text_origin (
	job TEXT NOT NULL, 
	"row" BIGINT NOT NULL, 
	"column" TEXT NOT NULL, 
	collection TEXT NOT NULL, 
	document BIGINT NOT NULL, 
	finder TEXT NOT NULL, 
	start BIGINT, 
	"end" BIGINT, 
	PRIMARY KEY (job, "row", "column")
);
CREATE TABLE text_part (
	owner TEXT NOT NULL, 
	number BIGINT NOT NULL, 
	part INTEGER NOT NULL, 
	body BLOB NOT NULL, 
	PRIMARY KEY (owner, number, part)
);
CREATE TABLE text_quarantined (
	collection TEXT NOT NULL, 
	number BIGINT NOT NULL, 
	reason TEXT NOT NULL, 
	body BLOB NOT NULL, 
	PRIMARY KEY (collection, number), 
	FOREIGN KEY(collection) REFERENCES text_collection (id)
);
CREATE TABLE text_span (
	collection TEXT NOT NULL, 
	finder TEXT NOT NULL, 
	document BIGINT NOT NULL, 
	number INTEGER NOT NULL, 
	start BIGINT NOT NULL, 
	"end" BIGINT NOT NULL, 
	label TEXT NOT NULL, 
	score FLOAT NOT NULL, 
	source TEXT NOT NULL, denied BOOLEAN DEFAULT 0 NOT NULL, 
	PRIMARY KEY (collection, finder, document, number)
);
CREATE TABLE trial (
	id INTEGER NOT NULL, 
	body BLOB NOT NULL, 
	PRIMARY KEY (id)
);
CREATE INDEX charge_question ON charge (question);
CREATE INDEX charge_state ON charge (state);
CREATE INDEX chain_kind ON chain (kind, seq);
CREATE INDEX charge_held ON charge (held_boot) WHERE held_boot IS NOT NULL;
CREATE INDEX job_state ON job (state, created);
CREATE INDEX publication_created ON publication (created);
CREATE INDEX text_model_created ON text_model (created);
CREATE INDEX linkage_doubt_pair ON linkage_doubt (job, "left", "right");
CREATE INDEX linkage_decision_pair ON linkage_decision (linkage, "left", "right");
COMMIT;
