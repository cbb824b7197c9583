BEGIN TRANSACTION;
CREATE TABLE alembic_version (
	version_num VARCHAR(32) NOT NULL, 
	CONSTRAINT alembic_version_pkc PRIMARY KEY (version_num)
);
INSERT INTO "alembic_version" VALUES('0013');
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
INSERT INTO "chain" VALUES(1,'admin','2026-11-30T14:10:42.189844+00:00','{"action":"ledger.create","actor":"local:test","facts":{"ledger_id":"5e02f2b9fe203964216393997eca5733b64c69dd941fb44380f8c65b843156f9"}}','88be8fc755d699cb0854c79e7a29fb1e7f9d45a69f5058b60a46d3620faf37e0');
INSERT INTO "chain" VALUES(2,'admin','2026-11-30T14:10:42.193927+00:00','{"action":"setup","actor":"local:test","changes":[],"facts":{},"limits":{"population:people":2000000000,"project:study":2000000000}}','f7f8e5842aa8bcc0851df9748c07274f58b7c596419d27bc5fac8e7262049445');
INSERT INTO "chain" VALUES(3,'charge','2026-11-30T14:10:42.195187+00:00','{"dataset":"clinic","fingerprint":"f","idempotency_key":"k0","nano_epsilon":500000000,"population":"people","principal":"ada","private_history":false,"project":"study","query_id":"q0","question":"how many","request":"{}","scopes":["population:people","project:study"],"snapshot":"s1"}','0b5e72f45c5df687d66caa60825e5229084bcdcb341fa3e0db428db7b7d9c610');
INSERT INTO "chain" VALUES(4,'answered','2026-11-30T14:10:42.197169+00:00','{"query_id":"q0","salt":"8a124165cea8a1b35f020213144c30b2","sha256":"a7937b64b8caa58f03721bb6bacf5c78cb235febe0e70b1b84cd99541461a08e"}','0d57f5bcb60aa0dd6406aba12c936f4ffaef3f94c641cee8d868241136f7fd04');
INSERT INTO "chain" VALUES(5,'charge','2026-11-30T14:10:42.198371+00:00','{"dataset":"clinic","fingerprint":"f","idempotency_key":"k1","nano_epsilon":500000000,"population":"people","principal":"ada","private_history":false,"project":"study","query_id":"q1","question":"how many","request":"{}","scopes":["population:people","project:study"],"snapshot":"s1"}','246e0c64b15ad016886536111736669f0e8e1249108d3aa4a764221f5644403b');
INSERT INTO "chain" VALUES(6,'answered','2026-11-30T14:10:42.199263+00:00','{"query_id":"q1","salt":"ba14ea03692d28d1ea534eed5cda71fd","sha256":"16367aacb67a4a017c8da8ab95682ccb390863780f7114dda0a0e0c55644c7c4"}','95f7c12c5b5acf76101d7c13b66daab73de1179c932ee8de038da225de31fd72');
INSERT INTO "chain" VALUES(7,'charge','2026-11-30T14:10:42.200028+00:00','{"dataset":"clinic","fingerprint":"f","idempotency_key":"k2","nano_epsilon":500000000,"population":"people","principal":"ada","private_history":false,"project":"study","query_id":"q2","question":"how many","request":"{}","scopes":["population:people","project:study"],"snapshot":"s1"}','5df1f7fc8ecfac31b31c77ef716763db9ba928820b65415f8adce55e86d8c634');
INSERT INTO "chain" VALUES(8,'failed','2026-11-30T14:10:42.200892+00:00','{"query_id":"q2","salt":"caedb800c0ef0e7c6e65974abf85f0e1"}','0c4b105aa11b6f2ebee8776379d05e0a8aaffee0682ed03e595d168bb17a299a');
INSERT INTO "chain" VALUES(9,'free','2026-11-30T14:10:42.201646+00:00','{"dataset":"clinic","fingerprint":"f","idempotency_key":"k3","nano_epsilon":500000000,"population":"people","principal":"ada","private_history":false,"project":"study","query_id":"q3","question":"how many","request":"{}","salt":"403573c4c6d1e0e923b48c3c8360247a","scopes":["population:people","project:study"],"sha256":"b4c9e14061c2fd453b36700e3b0da008db2189c711ac629f0f583089164e267d","snapshot":"s1","source_query_id":"q0"}','7341de8da5384b4133ab5fca0da416151533371839a87d082a9b43710e07184a');
INSERT INTO "chain" VALUES(10,'free','2026-11-30T14:10:42.202477+00:00','{"dataset":"clinic","fingerprint":"f","idempotency_key":"k4","nano_epsilon":500000000,"population":"people","principal":"ada","private_history":false,"project":"study","query_id":"q4","question":"how many","request":"{}","salt":"7efe6b7e256ddf2eb53450aacf90fdd7","scopes":["population:people","project:study"],"sha256":"a1be7fee4b3a2bd625addd4a8babcef3d1bece3659ca1273fcb5c919c34de929","snapshot":"s1","source_query_id":"q0","stored_sha256":"74fc09ce83887a96dbfada53dc37dcba9761cc1de04273e5dc0a21a8a2342414"}','74f0857258de7a8747e0af9786b56af087c4af8172447400fdd4a2152193d94e');
INSERT INTO "chain" VALUES(11,'charge','2026-11-30T14:10:42.203321+00:00','{"dataset":"clinic","fingerprint":"f","idempotency_key":"k5","nano_epsilon":500000000,"population":"people","principal":"ada","private_history":false,"project":"study","query_id":"q5","question":"how many","request":"{}","scopes":["population:people","project:study"],"snapshot":"s1"}','fd14cc46613400e67994c77cd9046991e50f86e1e8b4a598ee00b71ebb6a8a79');
INSERT INTO "chain" VALUES(12,'refused','2026-11-30T14:10:42.204242+00:00','{"code":"budget_exceeded","dataset":"clinic","nano_epsilon":500000000,"population":"people","principal":"ada","project":"study"}','a09787e41ca674016b0bb0c2ba9a95180518af83e9eb2839e80e2369740ac9a6');
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
	attempts INTEGER NOT NULL, held_boot TEXT, refines TEXT, total_nano BIGINT, 
	PRIMARY KEY (query_id), 
	CHECK (nano_epsilon >= 0 AND nano_epsilon <= 4611686018427387903), 
	CHECK (state IN ('running', 'answered', 'failed')), 
	UNIQUE (principal, idempotency_key), 
	UNIQUE (seq)
);
INSERT INTO "charge" VALUES('q0',3,'2026-11-30T14:10:42.195187+00:00','ada','study','people','clinic','s1',500000000,'how many',0,'k0','f','{}',NULL,'answered',NULL,1,NULL,NULL,NULL);
INSERT INTO "charge" VALUES('q1',5,'2026-11-30T14:10:42.198371+00:00','ada','study','people','clinic','s1',500000000,'how many',0,'k1','f','{}',NULL,'answered',NULL,1,NULL,NULL,NULL);
INSERT INTO "charge" VALUES('q2',7,'2026-11-30T14:10:42.200028+00:00','ada','study','people','clinic','s1',500000000,'how many',0,'k2','f','{}',NULL,'failed',NULL,1,NULL,NULL,NULL);
INSERT INTO "charge" VALUES('q3',9,'2026-11-30T14:10:42.201646+00:00','ada','study','people','clinic','s1',500000000,'how many',0,'k3','f','{}','q0','answered',NULL,1,NULL,NULL,NULL);
INSERT INTO "charge" VALUES('q4',10,'2026-11-30T14:10:42.202477+00:00','ada','study','people','clinic','s1',500000000,'how many',0,'k4','f','{}','q0','answered',NULL,1,NULL,NULL,NULL);
INSERT INTO "charge" VALUES('q5',11,'2026-11-30T14:10:42.203321+00:00','ada','study','people','clinic','s1',500000000,'how many',0,'k5','f','{}',NULL,'running','1122bcb73e50fff34e3a53106b70f280',1,NULL,NULL,NULL);
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
CREATE UNIQUE INDEX charge_refines ON charge (refines);
COMMIT;
