-- Operations: long work, read from the rows that stand for it. What has ended and has no row any more is noted by triggers in the
-- transaction that ends it, whichever program makes it.

-- Since when a node or disk is to be emptied.
ALTER TABLE "node" ADD COLUMN "eviction_requested_at" TIMESTAMPTZ(3);
ALTER TABLE "disk" ADD COLUMN "eviction_requested_at" TIMESTAMPTZ(3);
CREATE FUNCTION note_eviction() RETURNS trigger LANGUAGE plpgsql
  AS $$
  BEGIN
    NEW.eviction_requested_at := CASE WHEN NEW.eviction_requested THEN coalesce(NEW.eviction_requested_at, clock_timestamp()) END;
    RETURN NEW;
  END
  $$;
CREATE TRIGGER note_eviction BEFORE INSERT OR UPDATE OF "eviction_requested" ON "node"
  FOR EACH ROW EXECUTE FUNCTION note_eviction();
CREATE TRIGGER note_eviction BEFORE INSERT OR UPDATE OF "eviction_requested" ON "disk"
  FOR EACH ROW EXECUTE FUNCTION note_eviction();
-- The owner is held to policies that show it nothing, so they are lifted for these updates.
ALTER TABLE "node" NO FORCE ROW LEVEL SECURITY;
ALTER TABLE "disk" NO FORCE ROW LEVEL SECURITY;
UPDATE "node" SET eviction_requested_at = now() WHERE eviction_requested;
UPDATE "disk" SET eviction_requested_at = now() WHERE eviction_requested;
ALTER TABLE "node" FORCE ROW LEVEL SECURITY;
ALTER TABLE "disk" FORCE ROW LEVEL SECURITY;

CREATE TABLE "ended_operation" (
    "id" TEXT NOT NULL,
    "organization_id" UUID NOT NULL,
    "cluster_id" UUID NOT NULL,
    "project_id" UUID,
    "kind" TEXT NOT NULL,
    "target_kind" TEXT NOT NULL,
    "target_id" UUID NOT NULL,
    "volume_id" UUID,
    "node_id" UUID,
    "state" TEXT NOT NULL,
    "phase" TEXT NOT NULL,
    "progress_done" BIGINT,
    "progress_total" BIGINT,
    "progress_unit" TEXT,
    "message" TEXT NOT NULL,
    "requested_at" TIMESTAMPTZ(3) NOT NULL,
    "started_at" TIMESTAMPTZ(3),
    "finished_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "ended_operation_pkey" PRIMARY KEY ("id")
);
CREATE INDEX "ended_operation_cluster_id_requested_at_id_idx" ON "ended_operation"("cluster_id", "requested_at", "id");
CREATE INDEX "ended_operation_cluster_id_finished_at_idx" ON "ended_operation"("cluster_id", "finished_at");
ALTER TABLE "ended_operation" ADD CONSTRAINT "ended_operation_cluster_id_fkey"
  FOREIGN KEY ("cluster_id") REFERENCES "cluster"("id") ON DELETE CASCADE ON UPDATE CASCADE;
ALTER TABLE "ended_operation" ENABLE ROW LEVEL SECURITY;
ALTER TABLE "ended_operation" FORCE ROW LEVEL SECURITY;
CREATE POLICY api_isolation ON "ended_operation" TO holdfast_api
  USING (organization_id = (SELECT current_organization_id()))
  WITH CHECK (organization_id = (SELECT current_organization_id()));
CREATE POLICY system_access ON "ended_operation" TO holdfast_system USING (true) WITH CHECK (true);
-- For reading only: a change that a caller may make is noted also where the note is not for its eyes.
CREATE POLICY token_clusters ON "ended_operation" AS RESTRICTIVE FOR SELECT TO holdfast_api
  USING ((SELECT current_cluster_ids()) IS NULL OR cluster_id = ANY ((SELECT current_cluster_ids())::uuid[]));
CREATE POLICY token_projects ON "ended_operation" AS RESTRICTIVE FOR SELECT TO holdfast_api
  USING ((SELECT current_project_ids()) IS NULL OR project_id = ANY ((SELECT current_project_ids())::uuid[]));
GRANT SELECT, INSERT ON "ended_operation" TO holdfast_api;
GRANT SELECT, INSERT, DELETE ON "ended_operation" TO holdfast_system;

-- What one row says of one operation, beside whose it is.
CREATE TYPE operation_facts AS (
  kind text, state text, phase text, progress_done bigint, progress_total bigint, progress_unit text, message text,
  requested_at timestamptz, started_at timestamptz, finished_at timestamptz
);
-- An operation has no id of its own: its kind, its target and when it was asked for are one.
CREATE FUNCTION operation_id(kind text, target_id uuid, requested_at timestamptz) RETURNS text
  LANGUAGE sql IMMUTABLE PARALLEL SAFE
  RETURN kind || '-' || target_id || '-' || (extract(epoch FROM requested_at) * 1000)::bigint;

CREATE FUNCTION volume_operations(v volume) RETURNS SETOF operation_facts LANGUAGE sql STABLE
  BEGIN ATOMIC
    SELECT v.layer_task->>'kind', CASE WHEN (v.layer_task->>'startedEpoch')::bigint = v.epoch THEN 'running' ELSE 'queued' END,
      '', NULL::bigint, CASE WHEN v.layer_task->>'kind' = 'expand' THEN (v.layer_task->>'sizeBytes')::bigint END,
      CASE WHEN v.layer_task->>'kind' = 'expand' THEN 'bytes' END, coalesce(v.layer_task->'trouble'->>'message', ''),
      (v.layer_task->>'requestedAt')::timestamptz, NULL::timestamptz, NULL::timestamptz
    WHERE v.layer_task IS NOT NULL
    UNION ALL
    SELECT 'clone', CASE WHEN (v.fill->>'startedEpoch')::bigint = v.epoch THEN 'running' ELSE 'queued' END,
      '', v.written_bytes, NULL, 'bytes', coalesce(v.fill->'trouble'->>'message', ''),
      (v.fill->>'requestedAt')::timestamptz, NULL, NULL
    WHERE v.fill IS NOT NULL
    UNION ALL
    SELECT 'verify', CASE v.verification->>'state' WHEN 'done' THEN 'succeeded' ELSE v.verification->>'state' END,
      '', jsonb_array_length(v.verification->'replicas'), NULL, 'copies', v.verification->>'message',
      (v.verification->>'requestedAt')::timestamptz, (v.verification->>'requestedAt')::timestamptz,
      (v.verification->>'finishedAt')::timestamptz
    WHERE v.verification IS NOT NULL
    UNION ALL
    SELECT 'salvage', 'running', '', NULL, NULL, NULL, '', (v.salvage->>'requestedAt')::timestamptz,
      (v.salvage->>'requestedAt')::timestamptz, NULL
    WHERE v.salvage IS NOT NULL AND v.state = 'attaching'
    UNION ALL
    SELECT 'delete', 'running', '',
      greatest(0, v.number_of_replicas - (SELECT count(*) FROM public.replica r WHERE r.volume_id = v.id)),
      v.number_of_replicas, 'copies', '', v.deletion_requested_at, v.deletion_requested_at, NULL
    WHERE v.deletion_requested_at IS NOT NULL;
  END;

CREATE FUNCTION node_operations(n node) RETURNS SETOF operation_facts LANGUAGE sql STABLE
  BEGIN ATOMIC
    SELECT 'drain', CASE WHEN n.drain_status->>'state' = 'drained' THEN 'succeeded' ELSE 'running' END,
      coalesce(n.drain_status->>'state', 'draining'), (n.drain_status->'progress'->>'bytesMoved')::bigint,
      (n.drain_status->'progress'->>'bytesToMove')::bigint, 'bytes',
      CASE WHEN (n.drain_status->>'waitingCount')::int > 0
        THEN 'it waits for ' || (n.drain_status->'waitingFor'->0->>'message') ELSE '' END,
      (n.drain->>'requestedAt')::timestamptz, (n.drain->>'requestedAt')::timestamptz,
      CASE WHEN n.drain_status->>'state' = 'drained' THEN (n.drain_status->>'since')::timestamptz END
    WHERE n.drain IS NOT NULL
    UNION ALL
    SELECT 'evict', 'running', '', NULL, NULL, 'copies',
      (SELECT count(*) FROM public.replica r WHERE r.node_id = n.id) || ' copies are still on it',
      n.eviction_requested_at, n.eviction_requested_at, NULL
    WHERE n.eviction_requested_at IS NOT NULL;
  END;

CREATE FUNCTION disk_operations(d disk) RETURNS SETOF operation_facts LANGUAGE sql STABLE
  BEGIN ATOMIC
    SELECT 'evict', 'running', '', NULL::bigint, NULL::bigint, 'copies',
      (SELECT count(*) FROM public.replica r WHERE r.disk_id = d.id) || ' copies are still on it',
      d.eviction_requested_at, d.eviction_requested_at, NULL::timestamptz
    WHERE d.eviction_requested_at IS NOT NULL
    UNION ALL
    SELECT 'remove', 'running', '', NULL, NULL, NULL, '', d.removal_requested_at, d.removal_requested_at, NULL
    WHERE d.removal_requested_at IS NOT NULL;
  END;

CREATE FUNCTION replica_operations(r replica) RETURNS SETOF operation_facts LANGUAGE sql STABLE
  BEGIN ATOMIC
    SELECT 'move', 'running', CASE WHEN r.healthy_at IS NULL THEN 'copying' ELSE 'replacing' END,
      least(r.written_bytes, (r.relocation->>'bytes')::bigint), (r.relocation->>'bytes')::bigint, 'bytes',
      r.relocation->>'gain', (r.relocation->>'at')::timestamptz, (r.relocation->>'at')::timestamptz, NULL::timestamptz
    WHERE r.relocation IS NOT NULL;
  END;

CREATE FUNCTION orphan_operations(o orphan) RETURNS SETOF operation_facts LANGUAGE sql STABLE
  BEGIN ATOMIC
    SELECT 'remove', CASE WHEN o.removal->>'claimedAt' IS NULL THEN 'queued' ELSE 'running' END, '', NULL::bigint,
      o.written_bytes, 'bytes', coalesce(o.removal->'trouble'->>'message', ''),
      (o.removal->>'requestedAt')::timestamptz, (o.removal->>'claimedAt')::timestamptz, NULL::timestamptz
    WHERE o.removal IS NOT NULL;
  END;

-- So that looking at what is under way does not read all volumes and orphans; copies that move have an index already.
CREATE INDEX "volume_operations" ON "volume" ("cluster_id", "id")
  WHERE "layer_task" IS NOT NULL OR "fill" IS NOT NULL OR "verification" IS NOT NULL OR "salvage" IS NOT NULL
    OR "deletion_requested_at" IS NOT NULL;
CREATE INDEX "orphan_operations" ON "orphan" ("cluster_id") WHERE "removal" IS NOT NULL;

-- All operations that the reader may see. As the reader, so that the policies of the tables hold.
CREATE VIEW "operation" WITH (security_invoker = true) AS
  SELECT 'rebuild-' || b.id AS id, b.organization_id, b.cluster_id, v.project_id, 'rebuild' AS kind,
    'rebuild' AS target_kind, b.id AS target_id, b.volume_id, b.target_node_id AS node_id,
    CASE WHEN b.preempted_at IS NULL THEN b.state ELSE 'queued' END AS state, b.phase,
    floor(b.percent)::bigint AS progress_done, 100::bigint AS progress_total, 'percent' AS progress_unit,
    coalesce(b.error->>'message', b.waiting_for) AS message, b.queued_at AS requested_at, b.started_at, b.finished_at
  FROM rebuild b JOIN volume v ON v.id = b.volume_id
  UNION ALL
  SELECT operation_id(f.kind, v.id, f.requested_at), v.organization_id, v.cluster_id, v.project_id, f.kind, 'volume', v.id,
    v.id, v.attached_node_id, f.state, f.phase, f.progress_done, f.progress_total, f.progress_unit, f.message,
    f.requested_at, f.started_at, f.finished_at
  FROM volume v CROSS JOIN LATERAL volume_operations(v) f
  WHERE v.layer_task IS NOT NULL OR v.fill IS NOT NULL OR v.verification IS NOT NULL OR v.salvage IS NOT NULL
    OR v.deletion_requested_at IS NOT NULL
  UNION ALL
  SELECT operation_id(f.kind, r.id, f.requested_at), r.organization_id, v.cluster_id, v.project_id, f.kind, 'replica', r.id,
    v.id, r.node_id, f.state, f.phase, f.progress_done, f.progress_total, f.progress_unit, f.message,
    f.requested_at, f.started_at, f.finished_at
  FROM replica r JOIN volume v ON v.id = r.volume_id CROSS JOIN LATERAL replica_operations(r) f
  WHERE r.relocation IS NOT NULL
  UNION ALL
  SELECT operation_id(f.kind, n.id, f.requested_at), n.organization_id, n.cluster_id, NULL, f.kind, 'node', n.id,
    NULL, n.id, f.state, f.phase, f.progress_done, f.progress_total, f.progress_unit, f.message,
    f.requested_at, f.started_at, f.finished_at
  FROM node n CROSS JOIN LATERAL node_operations(n) f
  WHERE (SELECT current_project_ids()) IS NULL
  UNION ALL
  SELECT operation_id(f.kind, d.id, f.requested_at), d.organization_id, d.cluster_id, NULL, f.kind, 'disk', d.id,
    NULL, d.node_id, f.state, f.phase, f.progress_done, f.progress_total, f.progress_unit, f.message,
    f.requested_at, f.started_at, f.finished_at
  FROM disk d CROSS JOIN LATERAL disk_operations(d) f
  WHERE (SELECT current_project_ids()) IS NULL
  UNION ALL
  SELECT operation_id(f.kind, o.id, f.requested_at), o.organization_id, o.cluster_id, NULL, f.kind, 'orphan', o.id,
    o.volume_id, o.node_id, f.state, f.phase, f.progress_done, f.progress_total, f.progress_unit, f.message,
    f.requested_at, f.started_at, f.finished_at
  FROM orphan o CROSS JOIN LATERAL orphan_operations(o) f
  WHERE o.removal IS NOT NULL AND (SELECT current_project_ids()) IS NULL
  UNION ALL
  SELECT id, organization_id, cluster_id, project_id, kind, target_kind, target_id, volume_id, node_id, state, phase,
    progress_done, progress_total, progress_unit, message, requested_at, started_at, finished_at
  FROM ended_operation;
GRANT SELECT ON "operation" TO holdfast_api, holdfast_system;

-- Keeps how an operation has ended whose row says so no more.
CREATE FUNCTION note_ended_operation(
  was operation_facts, ended_state text, ended_message text, target_kind text, target_id uuid, organization_id uuid,
  cluster_id uuid, project_id uuid, volume_id uuid, node_id uuid
) RETURNS void LANGUAGE sql
  BEGIN ATOMIC
    INSERT INTO public.ended_operation (id, organization_id, cluster_id, project_id, kind, target_kind, target_id, volume_id,
      node_id, state, phase, progress_done, progress_total, progress_unit, message, requested_at, started_at, finished_at)
    SELECT public.operation_id(was.kind, target_id, was.requested_at), organization_id, cluster_id, project_id, was.kind,
      target_kind, target_id, volume_id, node_id, ended_state, '',
      CASE WHEN ended_state = 'succeeded' THEN coalesce(was.progress_total, was.progress_done) ELSE was.progress_done END,
      was.progress_total, was.progress_unit, ended_message, was.requested_at, was.started_at,
      coalesce(was.finished_at, clock_timestamp())
    ON CONFLICT DO NOTHING;
  END;

-- The triggers are deferred, so that the events of the transaction are there: what was given up is told by one.
CREATE FUNCTION volume_operations_ended() RETURNS trigger LANGUAGE plpgsql SET search_path = pg_catalog, public
  AS $$
  DECLARE
    was operation_facts;
    trouble text;
  BEGIN
    SELECT e.message INTO trouble FROM event e
    WHERE e.cluster_id = OLD.cluster_id AND e.transaction_id = pg_current_xact_id()::text::bigint AND e.volume_id = OLD.id
      AND e.type IN ('VolumeTaskFailed', 'SalvageRefused') LIMIT 1;
    FOR was IN SELECT f.* FROM volume_operations(OLD) f WHERE NOT EXISTS (
      SELECT FROM volume_operations(NEW) g WHERE g.kind = f.kind AND g.requested_at = f.requested_at)
    LOOP
      PERFORM note_ended_operation(was, CASE
          WHEN was.finished_at IS NOT NULL THEN was.state
          WHEN was.kind = 'delete' THEN 'succeeded'
          WHEN trouble IS NOT NULL THEN 'failed'
          WHEN TG_OP = 'DELETE' OR NEW.deletion_requested_at IS NOT NULL THEN 'cancelled'
          ELSE 'succeeded' END,
        CASE WHEN was.finished_at IS NOT NULL THEN was.message ELSE coalesce(trouble, '') END,
        'volume', OLD.id, OLD.organization_id, OLD.cluster_id, OLD.project_id, OLD.id, OLD.attached_node_id);
    END LOOP;
    RETURN NULL;
  END
  $$;
CREATE CONSTRAINT TRIGGER operations_ended AFTER UPDATE ON "volume" DEFERRABLE INITIALLY DEFERRED FOR EACH ROW
  WHEN (OLD.layer_task IS DISTINCT FROM NEW.layer_task OR OLD.fill IS DISTINCT FROM NEW.fill
    OR OLD.verification IS DISTINCT FROM NEW.verification OR OLD.salvage IS DISTINCT FROM NEW.salvage)
  EXECUTE FUNCTION volume_operations_ended();
CREATE CONSTRAINT TRIGGER operations_gone AFTER DELETE ON "volume" DEFERRABLE INITIALLY DEFERRED FOR EACH ROW
  EXECUTE FUNCTION volume_operations_ended();

CREATE FUNCTION replica_operations_ended() RETURNS trigger LANGUAGE plpgsql SET search_path = pg_catalog, public
  AS $$
  DECLARE
    was operation_facts;
    v volume;
    trouble text;
  BEGIN
    SELECT * INTO v FROM volume WHERE id = OLD.volume_id;
    IF NOT FOUND THEN RETURN NULL; END IF;
    SELECT e.message INTO trouble FROM event e
    WHERE e.cluster_id = v.cluster_id AND e.transaction_id = pg_current_xact_id()::text::bigint AND e.volume_id = v.id
      AND e.subject_id = OLD.id::text AND e.type = 'ReplicaMoveCancelled' LIMIT 1;
    FOR was IN SELECT f.* FROM replica_operations(OLD) f WHERE NOT EXISTS (
      SELECT FROM replica_operations(NEW) g WHERE g.kind = f.kind AND g.requested_at = f.requested_at)
    LOOP
      PERFORM note_ended_operation(was,
        CASE WHEN trouble IS NOT NULL OR TG_OP = 'DELETE' THEN 'cancelled' ELSE 'succeeded' END,
        coalesce(trouble, ''), 'replica', OLD.id, OLD.organization_id, v.cluster_id, v.project_id, v.id, OLD.node_id);
    END LOOP;
    RETURN NULL;
  END
  $$;
CREATE CONSTRAINT TRIGGER operations_ended AFTER UPDATE ON "replica" DEFERRABLE INITIALLY DEFERRED FOR EACH ROW
  WHEN (OLD.relocation IS NOT NULL AND OLD.relocation IS DISTINCT FROM NEW.relocation)
  EXECUTE FUNCTION replica_operations_ended();
CREATE CONSTRAINT TRIGGER operations_gone AFTER DELETE ON "replica" DEFERRABLE INITIALLY DEFERRED FOR EACH ROW
  WHEN (OLD.relocation IS NOT NULL) EXECUTE FUNCTION replica_operations_ended();

CREATE FUNCTION node_operations_ended() RETURNS trigger LANGUAGE plpgsql SET search_path = pg_catalog, public
  AS $$
  DECLARE
    was operation_facts;
  BEGIN
    FOR was IN SELECT f.* FROM node_operations(OLD) f WHERE NOT EXISTS (
      SELECT FROM node_operations(NEW) g WHERE g.kind = f.kind AND g.requested_at = f.requested_at)
    LOOP
      PERFORM note_ended_operation(was, CASE
          WHEN was.finished_at IS NOT NULL THEN was.state
          WHEN was.kind = 'evict' AND NOT EXISTS (SELECT FROM replica r WHERE r.node_id = OLD.id) THEN 'succeeded'
          ELSE 'cancelled' END,
        '', 'node', OLD.id, OLD.organization_id, OLD.cluster_id, NULL, NULL, OLD.id);
    END LOOP;
    RETURN NULL;
  END
  $$;
CREATE CONSTRAINT TRIGGER operations_ended AFTER UPDATE ON "node" DEFERRABLE INITIALLY DEFERRED FOR EACH ROW
  WHEN (OLD.drain IS DISTINCT FROM NEW.drain OR OLD.eviction_requested_at IS DISTINCT FROM NEW.eviction_requested_at)
  EXECUTE FUNCTION node_operations_ended();
CREATE CONSTRAINT TRIGGER operations_gone AFTER DELETE ON "node" DEFERRABLE INITIALLY DEFERRED FOR EACH ROW
  EXECUTE FUNCTION node_operations_ended();

CREATE FUNCTION disk_operations_ended() RETURNS trigger LANGUAGE plpgsql SET search_path = pg_catalog, public
  AS $$
  DECLARE
    was operation_facts;
  BEGIN
    FOR was IN SELECT f.* FROM disk_operations(OLD) f WHERE NOT EXISTS (
      SELECT FROM disk_operations(NEW) g WHERE g.kind = f.kind AND g.requested_at = f.requested_at)
    LOOP
      PERFORM note_ended_operation(was, CASE
          WHEN was.kind = 'remove' THEN CASE TG_OP WHEN 'DELETE' THEN 'succeeded' ELSE 'cancelled' END
          WHEN NOT EXISTS (SELECT FROM replica r WHERE r.disk_id = OLD.id) THEN 'succeeded'
          ELSE 'cancelled' END,
        '', 'disk', OLD.id, OLD.organization_id, OLD.cluster_id, NULL, NULL, OLD.node_id);
    END LOOP;
    RETURN NULL;
  END
  $$;
CREATE CONSTRAINT TRIGGER operations_ended AFTER UPDATE ON "disk" DEFERRABLE INITIALLY DEFERRED FOR EACH ROW
  WHEN (OLD.removal_requested_at IS DISTINCT FROM NEW.removal_requested_at
    OR OLD.eviction_requested_at IS DISTINCT FROM NEW.eviction_requested_at)
  EXECUTE FUNCTION disk_operations_ended();
CREATE CONSTRAINT TRIGGER operations_gone AFTER DELETE ON "disk" DEFERRABLE INITIALLY DEFERRED FOR EACH ROW
  EXECUTE FUNCTION disk_operations_ended();

CREATE FUNCTION orphan_operations_ended() RETURNS trigger LANGUAGE plpgsql SET search_path = pg_catalog, public
  AS $$
  DECLARE
    was operation_facts;
  BEGIN
    FOR was IN SELECT f.* FROM orphan_operations(OLD) f LOOP
      PERFORM note_ended_operation(was, CASE TG_OP WHEN 'DELETE' THEN 'succeeded' ELSE 'cancelled' END,
        '', 'orphan', OLD.id, OLD.organization_id, OLD.cluster_id, NULL, OLD.volume_id, OLD.node_id);
    END LOOP;
    RETURN NULL;
  END
  $$;
CREATE CONSTRAINT TRIGGER operations_ended AFTER UPDATE ON "orphan" DEFERRABLE INITIALLY DEFERRED FOR EACH ROW
  WHEN (OLD.removal IS NOT NULL AND NEW.removal IS NULL) EXECUTE FUNCTION orphan_operations_ended();
CREATE CONSTRAINT TRIGGER operations_gone AFTER DELETE ON "orphan" DEFERRABLE INITIALLY DEFERRED FOR EACH ROW
  WHEN (OLD.removal IS NOT NULL) EXECUTE FUNCTION orphan_operations_ended();
