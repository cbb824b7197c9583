BEGIN TRANSACTION;
CREATE TABLE alembic_version (
	version_num VARCHAR(32) NOT NULL, 
	CONSTRAINT alembic_version_pkc PRIMARY KEY (version_num)
);
INSERT INTO "alembic_version" VALUES('0004');
CREATE TABLE answer (
	query_id TEXT NOT NULL, 
	body BLOB NOT NULL, 
	PRIMARY KEY (query_id), 
	FOREIGN KEY(query_id) REFERENCES charge (query_id)
);
INSERT INTO "answer" VALUES('q0',X'6669727374');
INSERT INTO "answer" VALUES('q1',X'7365636F6E64');
INSERT INTO "answer" VALUES('q3',X'616761696E');
CREATE TABLE boot (
	id TEXT NOT NULL, 
	renewed_ms BIGINT NOT NULL, 
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
INSERT INTO "chain" VALUES(1,'admin','2026-11-22T15:42:22.237768+00:00','{"action":"ledger.create","actor":"local:test","facts":{"ledger_id":"c7e449561b89287ff4095a646f3ea3f38e2b2ffe10aed93d295c3adb01216929"}}','7a649ff4a95c1d1f9d3d1657506e126726ec18f8dbbf80188ebdb306e950941d');
INSERT INTO "chain" VALUES(2,'admin','2026-11-22T15:42:22.294781+00:00','{"action":"setup","actor":"local:test","changes":[],"facts":{},"limits":{"population:people":2000000000,"project:study":2000000000}}','9982fafcab93dd156fa4dbc6a258c264ca8b0022b4ce64c2822902736654eb47');
INSERT INTO "chain" VALUES(3,'charge','2026-11-22T15:42:22.337013+00:00','{"dataset":"clinic","fingerprint":"f","idempotency_key":"k0","nano_epsilon":500000000,"population":"people","principal":"ada","private_history":false,"project":"study","query_id":"q0","question":"how many","request":"{}","scopes":["population:people","project:study"],"snapshot":"s1"}','f123d57feb798eaefd0ed262550cf5e1f18e5a35ec4487a0edf64bf0233d91d0');
INSERT INTO "chain" VALUES(4,'answered','2026-11-22T15:42:22.356449+00:00','{"query_id":"q0","sha256":"a7937b64b8caa58f03721bb6bacf5c78cb235febe0e70b1b84cd99541461a08e"}','fc583b8e002c5569478a4f98d0925e4a9926345178a17cc4391fe6f60be0f1d1');
INSERT INTO "chain" VALUES(5,'charge','2026-11-22T15:42:22.365171+00:00','{"dataset":"clinic","fingerprint":"f","idempotency_key":"k1","nano_epsilon":500000000,"population":"people","principal":"ada","private_history":false,"project":"study","query_id":"q1","question":"how many","request":"{}","scopes":["population:people","project:study"],"snapshot":"s1"}','5dc9b4874b611041bcbc67ecf18ae45dd6bc8cd680e5fb443880506cd12026ba');
INSERT INTO "chain" VALUES(6,'answered','2026-11-22T15:42:22.373568+00:00','{"query_id":"q1","sha256":"16367aacb67a4a017c8da8ab95682ccb390863780f7114dda0a0e0c55644c7c4"}','342e8ae236948f4785659de4f01896ab6c8d0d7b4901a1b55403cb955d8f0a7b');
INSERT INTO "chain" VALUES(7,'charge','2026-11-22T15:42:22.388086+00:00','{"dataset":"clinic","fingerprint":"f","idempotency_key":"k2","nano_epsilon":500000000,"population":"people","principal":"ada","private_history":false,"project":"study","query_id":"q2","question":"how many","request":"{}","scopes":["population:people","project:study"],"snapshot":"s1"}','e4164d92c5ddcf8405cdc56240d1e62e5c0560ef704e557f3a56324f30ff2314');
INSERT INTO "chain" VALUES(8,'failed','2026-11-22T15:42:22.403981+00:00','{"query_id":"q2"}','c725231056cee1ab463e98f754681004e921868b402fa860a61d98872311891e');
INSERT INTO "chain" VALUES(9,'free','2026-11-22T15:42:22.416233+00:00','{"dataset":"clinic","fingerprint":"f","idempotency_key":"k3","nano_epsilon":500000000,"population":"people","principal":"ada","private_history":false,"project":"study","query_id":"q3","question":"how many","request":"{}","scopes":["population:people","project:study"],"sha256":"b4c9e14061c2fd453b36700e3b0da008db2189c711ac629f0f583089164e267d","snapshot":"s1","source_query_id":"q0"}','b512e11433786f448b7bc3cc1b428d69518d6bd1060726a95c9f25c5ef46bb61');
INSERT INTO "chain" VALUES(10,'charge','2026-11-22T15:42:22.419678+00:00','{"dataset":"clinic","fingerprint":"f","idempotency_key":"k4","nano_epsilon":500000000,"population":"people","principal":"ada","private_history":false,"project":"study","query_id":"q4","question":"how many","request":"{}","scopes":["population:people","project:study"],"snapshot":"s1"}','731e0504ff325adecad1ddce3d8e8ab75c4e5dd913121ca0065a45b78e9febd4');
INSERT INTO "chain" VALUES(11,'refused','2026-11-22T15:42:22.428176+00:00','{"code":"budget_exceeded","dataset":"clinic","nano_epsilon":500000000,"population":"people","principal":"ada","project":"study"}','8af875c0c4e323599a3287c6611debdc2824867ac92e5652a672367cd65c13d1');
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
INSERT INTO "charge" VALUES('q0',3,'2026-11-22T15:42:22.337013+00:00','ada','study','people','clinic','s1',500000000,'how many',0,'k0','f','{}',NULL,'answered',NULL,1,NULL);
INSERT INTO "charge" VALUES('q1',5,'2026-11-22T15:42:22.365171+00:00','ada','study','people','clinic','s1',500000000,'how many',0,'k1','f','{}',NULL,'answered',NULL,1,NULL);
INSERT INTO "charge" VALUES('q2',7,'2026-11-22T15:42:22.388086+00:00','ada','study','people','clinic','s1',500000000,'how many',0,'k2','f','{}',NULL,'failed',NULL,1,NULL);
INSERT INTO "charge" VALUES('q3',9,'2026-11-22T15:42:22.416233+00:00','ada','study','people','clinic','s1',500000000,'how many',0,'k3','f','{}','q0','answered',NULL,1,NULL);
INSERT INTO "charge" VALUES('q4',10,'2026-11-22T15:42:22.419678+00:00','ada','study','people','clinic','s1',500000000,'how many',0,'k4','f','{}',NULL,'running','8f2fc7f3c8ddcdcaf024cf18014fdd92',1,NULL);
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
	lineage TEXT NOT NULL, 
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
CREATE INDEX charge_question ON charge (question);
CREATE INDEX charge_state ON charge (state);
CREATE INDEX chain_kind ON chain (kind, seq);
CREATE INDEX charge_held ON charge (held_boot) WHERE held_boot IS NOT NULL;
CREATE INDEX job_state ON job (state, created);
CREATE INDEX publication_created ON publication (created);
COMMIT;
