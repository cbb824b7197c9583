BEGIN TRANSACTION;
CREATE TABLE alembic_version (
	version_num VARCHAR(32) NOT NULL, 
	CONSTRAINT alembic_version_pkc PRIMARY KEY (version_num)
);
INSERT INTO "alembic_version" VALUES('0011');
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
INSERT INTO "chain" VALUES(1,'admin','2026-11-29T16:23:57.401666+00:00','{"action":"ledger.create","actor":"local:test","facts":{"ledger_id":"f77327dbcab3d75f76a2c623e07fc78ddda004f065b6069bf6a789440b4a4bba"}}','8ad06e468937af36a051b60edf6f4575a83a9c5c130d26998a7d3566bb972f7b');
INSERT INTO "chain" VALUES(2,'admin','2026-11-29T16:23:57.408184+00:00','{"action":"setup","actor":"local:test","changes":[],"facts":{},"limits":{"population:people":2000000000,"project:study":2000000000}}','84dc82e2a7d168002ba2432bdcb2d3f34e142d1eae20510365fe34680ea5ddaf');
INSERT INTO "chain" VALUES(3,'charge','2026-11-29T16:23:57.411063+00:00','{"dataset":"clinic","fingerprint":"f","idempotency_key":"k0","nano_epsilon":500000000,"population":"people","principal":"ada","private_history":false,"project":"study","query_id":"q0","question":"how many","request":"{}","scopes":["population:people","project:study"],"snapshot":"s1"}','21c818c15f104e5434ed9615650945094c3811db632501a5852a7101b1095456');
INSERT INTO "chain" VALUES(4,'answered','2026-11-29T16:23:57.418211+00:00','{"query_id":"q0","salt":"fe52ea9be1b36d99fcd158f917897fa6","sha256":"a7937b64b8caa58f03721bb6bacf5c78cb235febe0e70b1b84cd99541461a08e"}','c06c918d21439637c33ced6253d4b3891f487bdc135bf1f4a27574b8b2d5610f');
INSERT INTO "chain" VALUES(5,'charge','2026-11-29T16:23:57.420305+00:00','{"dataset":"clinic","fingerprint":"f","idempotency_key":"k1","nano_epsilon":500000000,"population":"people","principal":"ada","private_history":false,"project":"study","query_id":"q1","question":"how many","request":"{}","scopes":["population:people","project:study"],"snapshot":"s1"}','66b73175303ac043c1f3c3aeae91e7d35be52ef339467d811215b1ec74befc19');
INSERT INTO "chain" VALUES(6,'answered','2026-11-29T16:23:57.421717+00:00','{"query_id":"q1","salt":"0b3a58faff96fb554fbaf21a9489098d","sha256":"16367aacb67a4a017c8da8ab95682ccb390863780f7114dda0a0e0c55644c7c4"}','a400ab657c92219bc2348635ffacdadc5b1df87656b2537379d5ca7a2b56df96');
INSERT INTO "chain" VALUES(7,'charge','2026-11-29T16:23:57.423028+00:00','{"dataset":"clinic","fingerprint":"f","idempotency_key":"k2","nano_epsilon":500000000,"population":"people","principal":"ada","private_history":false,"project":"study","query_id":"q2","question":"how many","request":"{}","scopes":["population:people","project:study"],"snapshot":"s1"}','13d33d4fa64d3ab0ef12d8df916010ea09ef324d2d182c0237aa3c5adb73fa38');
INSERT INTO "chain" VALUES(8,'failed','2026-11-29T16:23:57.424656+00:00','{"query_id":"q2","salt":"e8d31fb6f4692666f2a39754c64e3978"}','40abcf18002b84d294fd1755041bb6bcab4ae92afbfe6b37af486ef20debaf1a');
INSERT INTO "chain" VALUES(9,'free','2026-11-29T16:23:57.425839+00:00','{"dataset":"clinic","fingerprint":"f","idempotency_key":"k3","nano_epsilon":500000000,"population":"people","principal":"ada","private_history":false,"project":"study","query_id":"q3","question":"how many","request":"{}","salt":"b67360977c8326f803ec372b236bede1","scopes":["population:people","project:study"],"sha256":"b4c9e14061c2fd453b36700e3b0da008db2189c711ac629f0f583089164e267d","snapshot":"s1","source_query_id":"q0"}','e80b66df52528fec92e46bc558a93e1a07c36ec08732c6dd0dc8a0a1121c1f0f');
INSERT INTO "chain" VALUES(10,'free','2026-11-29T16:23:57.427304+00:00','{"dataset":"clinic","fingerprint":"f","idempotency_key":"k4","nano_epsilon":500000000,"population":"people","principal":"ada","private_history":false,"project":"study","query_id":"q4","question":"how many","request":"{}","salt":"9a19f7e9849ce6eea81ae0f403572e4b","scopes":["population:people","project:study"],"sha256":"a1be7fee4b3a2bd625addd4a8babcef3d1bece3659ca1273fcb5c919c34de929","snapshot":"s1","source_query_id":"q0","stored_sha256":"74fc09ce83887a96dbfada53dc37dcba9761cc1de04273e5dc0a21a8a2342414"}','f8b19caa853680286ceaeaff488292ee726af608f4ff5804190241b03f8917fe');
INSERT INTO "chain" VALUES(11,'charge','2026-11-29T16:23:57.428554+00:00','{"dataset":"clinic","fingerprint":"f","idempotency_key":"k5","nano_epsilon":500000000,"population":"people","principal":"ada","private_history":false,"project":"study","query_id":"q5","question":"how many","request":"{}","scopes":["population:people","project:study"],"snapshot":"s1"}','8218430e767cfe69b63f0824d8da32844d23399fec754aff53814568594a7975');
INSERT INTO "chain" VALUES(12,'refused','2026-11-29T16:23:57.429883+00:00','{"code":"budget_exceeded","dataset":"clinic","nano_epsilon":500000000,"population":"people","principal":"ada","project":"study"}','5147258716b3903b5e9c13a44f5ad7e76fff5e8d41fb1e4e0b11bc6b14746073');
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
INSERT INTO "charge" VALUES('q0',3,'2026-11-29T16:23:57.411063+00:00','ada','study','people','clinic','s1',500000000,'how many',0,'k0','f','{}',NULL,'answered',NULL,1,NULL);
INSERT INTO "charge" VALUES('q1',5,'2026-11-29T16:23:57.420305+00:00','ada','study','people','clinic','s1',500000000,'how many',0,'k1','f','{}',NULL,'answered',NULL,1,NULL);
INSERT INTO "charge" VALUES('q2',7,'2026-11-29T16:23:57.423028+00:00','ada','study','people','clinic','s1',500000000,'how many',0,'k2','f','{}',NULL,'failed',NULL,1,NULL);
INSERT INTO "charge" VALUES('q3',9,'2026-11-29T16:23:57.425839+00:00','ada','study','people','clinic','s1',500000000,'how many',0,'k3','f','{}','q0','answered',NULL,1,NULL);
INSERT INTO "charge" VALUES('q4',10,'2026-11-29T16:23:57.427304+00:00','ada','study','people','clinic','s1',500000000,'how many',0,'k4','f','{}','q0','answered',NULL,1,NULL);
INSERT INTO "charge" VALUES('q5',11,'2026-11-29T16:23:57.428554+00:00','ada','study','people','clinic','s1',500000000,'how many',0,'k5','f','{}',NULL,'running','da72e8cab66c294e4ff3392839a4c49d',1,NULL);
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
CREATE INDEX linkage_doubt_pair ON linkage_doubt (job, "left", "right");
CREATE INDEX linkage_decision_pair ON linkage_decision (linkage, "left", "right");
COMMIT;
