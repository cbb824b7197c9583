BEGIN TRANSACTION;
CREATE TABLE alembic_version (
	version_num VARCHAR(32) NOT NULL, 
	CONSTRAINT alembic_version_pkc PRIMARY KEY (version_num)
);
INSERT INTO "alembic_version" VALUES('0010');
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
INSERT INTO "chain" VALUES(1,'admin','2026-11-26T17:08:23.971253+00:00','{"action":"ledger.create","actor":"local:test","facts":{"ledger_id":"a3a5ed38829dbbece7565dbb16fa629fddabbf93102ecbcf4abac7a4795914e2"}}','80bd9a0882f5fdf2e49474e89cbb51a949a5e380ea07df9677889c42d6d2a9df');
INSERT INTO "chain" VALUES(2,'admin','2026-11-26T17:08:23.980837+00:00','{"action":"setup","actor":"local:test","changes":[],"facts":{},"limits":{"population:people":2000000000,"project:study":2000000000}}','e29b70d213b171453cbd631c4c1df541bf64a5e4aeea39266dc0bd228b7ab9cf');
INSERT INTO "chain" VALUES(3,'charge','2026-11-26T17:08:23.986017+00:00','{"dataset":"clinic","fingerprint":"f","idempotency_key":"k0","nano_epsilon":500000000,"population":"people","principal":"ada","private_history":false,"project":"study","query_id":"q0","question":"how many","request":"{}","scopes":["population:people","project:study"],"snapshot":"s1"}','0868651928c77d4a061b7c72d464c80c7a3ed22e0f45bb58401d5cde7c3a7833');
INSERT INTO "chain" VALUES(4,'answered','2026-11-26T17:08:23.988110+00:00','{"query_id":"q0","salt":"15977f1ffa0a086e1cb70d15dc006976","sha256":"a7937b64b8caa58f03721bb6bacf5c78cb235febe0e70b1b84cd99541461a08e"}','ab80da999f4065fba78663068aa1b7bbacb8f00009a0db3acc1f4a05b79e8316');
INSERT INTO "chain" VALUES(5,'charge','2026-11-26T17:08:23.993387+00:00','{"dataset":"clinic","fingerprint":"f","idempotency_key":"k1","nano_epsilon":500000000,"population":"people","principal":"ada","private_history":false,"project":"study","query_id":"q1","question":"how many","request":"{}","scopes":["population:people","project:study"],"snapshot":"s1"}','384f11882c9e77657bc4798dbdef1906ae5a5353c0baf18a033ceac4eabf3677');
INSERT INTO "chain" VALUES(6,'answered','2026-11-26T17:08:23.994225+00:00','{"query_id":"q1","salt":"298c8666ec372c983c523ce0eee1f0b2","sha256":"16367aacb67a4a017c8da8ab95682ccb390863780f7114dda0a0e0c55644c7c4"}','b87fe1d35d8344833e4f3a72e5657c7b027517f9671281854c08ed2d54cba275');
INSERT INTO "chain" VALUES(7,'charge','2026-11-26T17:08:23.994951+00:00','{"dataset":"clinic","fingerprint":"f","idempotency_key":"k2","nano_epsilon":500000000,"population":"people","principal":"ada","private_history":false,"project":"study","query_id":"q2","question":"how many","request":"{}","scopes":["population:people","project:study"],"snapshot":"s1"}','7f6f7e291a0305a78ba78bb579046b40a23a072cfc09205299d4ffe8553c1fc9');
INSERT INTO "chain" VALUES(8,'failed','2026-11-26T17:08:23.995681+00:00','{"query_id":"q2","salt":"169d635ad6a06d104cadc981410e8786"}','216fee2456a13b9b4bf8656c9843f7e498b0462168f7a3aed0f7ecbbc9e4b5a8');
INSERT INTO "chain" VALUES(9,'free','2026-11-26T17:08:23.996318+00:00','{"dataset":"clinic","fingerprint":"f","idempotency_key":"k3","nano_epsilon":500000000,"population":"people","principal":"ada","private_history":false,"project":"study","query_id":"q3","question":"how many","request":"{}","salt":"e04bd5f39bfc9e6391805add823574d1","scopes":["population:people","project:study"],"sha256":"b4c9e14061c2fd453b36700e3b0da008db2189c711ac629f0f583089164e267d","snapshot":"s1","source_query_id":"q0"}','dcd9169060d3cae6d462121d784771c44f15d21347b86548aed0bd5a9e82ea6c');
INSERT INTO "chain" VALUES(10,'free','2026-11-26T17:08:23.997100+00:00','{"dataset":"clinic","fingerprint":"f","idempotency_key":"k4","nano_epsilon":500000000,"population":"people","principal":"ada","private_history":false,"project":"study","query_id":"q4","question":"how many","request":"{}","salt":"c697ce2d2476ee81e77e806184653553","scopes":["population:people","project:study"],"sha256":"a1be7fee4b3a2bd625addd4a8babcef3d1bece3659ca1273fcb5c919c34de929","snapshot":"s1","source_query_id":"q0","stored_sha256":"74fc09ce83887a96dbfada53dc37dcba9761cc1de04273e5dc0a21a8a2342414"}','5f6fc5c3fadc3f0d23fd858bcabd7ec707645312d9a10a5d26d8da12ccca373d');
INSERT INTO "chain" VALUES(11,'charge','2026-11-26T17:08:24.001080+00:00','{"dataset":"clinic","fingerprint":"f","idempotency_key":"k5","nano_epsilon":500000000,"population":"people","principal":"ada","private_history":false,"project":"study","query_id":"q5","question":"how many","request":"{}","scopes":["population:people","project:study"],"snapshot":"s1"}','a9bcb3aafd85fe5bf06b3c640d0d0c4811919c77b8d670a639774610c292082c');
INSERT INTO "chain" VALUES(12,'refused','2026-11-26T17:08:24.001877+00:00','{"code":"budget_exceeded","dataset":"clinic","nano_epsilon":500000000,"population":"people","principal":"ada","project":"study"}','e973db0074990c91966fd7e6cba73cc08b98028ba1ecaa425fb5f09edd0bceba');
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
INSERT INTO "charge" VALUES('q0',3,'2026-11-26T17:08:23.986017+00:00','ada','study','people','clinic','s1',500000000,'how many',0,'k0','f','{}',NULL,'answered',NULL,1,NULL);
INSERT INTO "charge" VALUES('q1',5,'2026-11-26T17:08:23.993387+00:00','ada','study','people','clinic','s1',500000000,'how many',0,'k1','f','{}',NULL,'answered',NULL,1,NULL);
INSERT INTO "charge" VALUES('q2',7,'2026-11-26T17:08:23.994951+00:00','ada','study','people','clinic','s1',500000000,'how many',0,'k2','f','{}',NULL,'failed',NULL,1,NULL);
INSERT INTO "charge" VALUES('q3',9,'2026-11-26T17:08:23.996318+00:00','ada','study','people','clinic','s1',500000000,'how many',0,'k3','f','{}','q0','answered',NULL,1,NULL);
INSERT INTO "charge" VALUES('q4',10,'2026-11-26T17:08:23.997100+00:00','ada','study','people','clinic','s1',500000000,'how many',0,'k4','f','{}','q0','answered',NULL,1,NULL);
INSERT INTO "charge" VALUES('q5',11,'2026-11-26T17:08:24.001080+00:00','ada','study','people','clinic','s1',500000000,'how many',0,'k5','f','{}',NULL,'running','aa05e1d465631b1dab391fc253cc7cb5',1,NULL);
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
	created_by TEXT NOT NULL, purpose TEXT, protocol TEXT, 
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
COMMIT;
