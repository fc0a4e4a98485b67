-- Id of the last whole report of the node's agent: while it holds, the agent may say that nothing has changed (ADR 0344).
ALTER TABLE "node" ADD COLUMN "report_id" UUID;

-- A report that is stored by a version before this one leaves no id: what the agent has confirmed may be about the report before. Each version
-- names `boot_id` in the statement that stores a report, so this runs for each.
CREATE FUNCTION end_report_id() RETURNS trigger LANGUAGE plpgsql SET search_path = pg_catalog, public
  AS $$
  BEGIN
    NEW.report_id := NULL;
    RETURN NEW;
  END
  $$;
CREATE TRIGGER end_report_id BEFORE UPDATE OF "boot_id" ON "node" FOR EACH ROW
  WHEN (OLD.report_id IS NOT NULL AND NEW.report_id IS NOT DISTINCT FROM OLD.report_id) EXECUTE FUNCTION end_report_id();

-- Nodes of which a row was changed that gives the same report another meaning. Rows are only added, so that commits which concern one node wait neither
-- for each other nor for its heartbeat. No foreign key, for the same reason: it would lock the node's row.
CREATE TABLE "stale_report" (
    "id" BIGSERIAL NOT NULL,
    "node_id" UUID NOT NULL,

    CONSTRAINT "stale_report_pkey" PRIMARY KEY ("id")
);
CREATE INDEX "stale_report_node_id_idx" ON "stale_report" ("node_id");

ALTER TABLE "stale_report" ENABLE ROW LEVEL SECURITY;
ALTER TABLE "stale_report" FORCE ROW LEVEL SECURITY;
-- The triggers below run as any role that changes the rows, and as the owner where rows go with others.
CREATE POLICY api_isolation ON "stale_report" TO holdfast_api USING (EXISTS (SELECT FROM node n WHERE n.id = node_id)) WITH CHECK (true);
CREATE POLICY owner_notes ON "stale_report" TO CURRENT_USER USING (true) WITH CHECK (true);
CREATE POLICY system_access ON "stale_report" TO holdfast_system USING (true) WITH CHECK (true);
GRANT SELECT, INSERT, DELETE ON "stale_report" TO holdfast_api, holdfast_system;
GRANT USAGE ON SEQUENCE "stale_report_id_seq" TO holdfast_api, holdfast_system;

CREATE FUNCTION note_stale_report() RETURNS trigger LANGUAGE plpgsql SET search_path = pg_catalog, public
  AS $$
  BEGIN
    IF TG_OP <> 'INSERT' AND OLD.node_id IS NOT NULL THEN
      INSERT INTO stale_report (node_id) VALUES (OLD.node_id);
    END IF;
    IF TG_OP <> 'DELETE' AND NEW.node_id IS NOT NULL AND (TG_OP = 'INSERT' OR NEW.node_id IS DISTINCT FROM OLD.node_id) THEN
      INSERT INTO stale_report (node_id) VALUES (NEW.node_id);
    END IF;
    RETURN NULL;
  END
  $$;

-- A copy is asked for once it has been made: the row of a new replica says nothing of reports.
CREATE TRIGGER note_stale_report AFTER INSERT ON "replica" FOR EACH ROW
  WHEN (NEW.provisioned) EXECUTE FUNCTION note_stale_report();
CREATE TRIGGER note_stale_report_of_gone AFTER DELETE ON "replica" FOR EACH ROW
  WHEN (OLD.provisioned) EXECUTE FUNCTION note_stale_report();
CREATE TRIGGER note_stale_report_of_changed AFTER UPDATE OF "node_id", "disk_id", "provisioned", "unreported_since" ON "replica" FOR EACH ROW
  WHEN ((OLD.node_id, OLD.disk_id, OLD.provisioned, OLD.unreported_since)
    IS DISTINCT FROM (NEW.node_id, NEW.disk_id, NEW.provisioned, NEW.unreported_since))
  EXECUTE FUNCTION note_stale_report();

-- A copy that is still there is found again.
CREATE TRIGGER note_stale_report_of_gone AFTER DELETE ON "orphan" FOR EACH ROW EXECUTE FUNCTION note_stale_report();

-- Stamps, free bytes and bookings are left out: they change all the time, and a report that waits for one of them has no id.
CREATE TRIGGER note_stale_report AFTER INSERT OR DELETE ON "disk" FOR EACH ROW EXECUTE FUNCTION note_stale_report();
CREATE TRIGGER note_stale_report_of_changed AFTER UPDATE OF "node_id", "name", "path", "type", "file_system", "storage_maximum_bytes", "conditions",
  "added_at", "configured_bytes", "removal_requested_at", "accepted_node_id", "duplicate_of" ON "disk" FOR EACH ROW
  WHEN ((OLD.node_id, OLD.name, OLD.path, OLD.type, OLD.file_system, OLD.storage_maximum_bytes, OLD.conditions,
      OLD.added_at, OLD.configured_bytes, OLD.removal_requested_at, OLD.accepted_node_id, OLD.duplicate_of)
    IS DISTINCT FROM (NEW.node_id, NEW.name, NEW.path, NEW.type, NEW.file_system, NEW.storage_maximum_bytes, NEW.conditions,
      NEW.added_at, NEW.configured_bytes, NEW.removal_requested_at, NEW.accepted_node_id, NEW.duplicate_of))
  EXECUTE FUNCTION note_stale_report();

CREATE FUNCTION forget_stale_reports() RETURNS trigger LANGUAGE plpgsql SET search_path = pg_catalog, public
  AS $$
  BEGIN
    DELETE FROM stale_report WHERE node_id = OLD.id;
    RETURN NULL;
  END
  $$;
CREATE TRIGGER forget_stale_reports AFTER DELETE ON "node" FOR EACH ROW EXECUTE FUNCTION forget_stale_reports();
