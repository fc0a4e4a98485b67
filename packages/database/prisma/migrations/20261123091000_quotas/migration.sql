-- Quotas of organizations and projects: what is used is counted by triggers, in the transaction of each change, whichever
-- program makes it. `id` is the organization's or the project's. Sums of bytes may pass what a bigint holds: volumes are thin.
CREATE TABLE "quota" (
    "id" UUID NOT NULL,
    "organization_id" UUID NOT NULL,
    "project_id" UUID,
    "provisioned_bytes_max" BIGINT,
    "physical_bytes_max" BIGINT,
    "volumes_max" BIGINT,
    "snapshots_max" BIGINT,
    "requests_per_minute_max" BIGINT,
    "provisioned_bytes" DECIMAL(30,0) NOT NULL DEFAULT 0,
    "physical_bytes" DECIMAL(30,0) NOT NULL DEFAULT 0,
    "volumes" BIGINT NOT NULL DEFAULT 0,
    "snapshots" BIGINT NOT NULL DEFAULT 0,
    "running_rebuilds" BIGINT NOT NULL DEFAULT 0,
    "version" INTEGER NOT NULL DEFAULT 1,

    CONSTRAINT "quota_pkey" PRIMARY KEY ("id")
);
CREATE UNIQUE INDEX "quota_project_id_key" ON "quota"("project_id");
CREATE INDEX "quota_organization_id_idx" ON "quota"("organization_id");
ALTER TABLE "quota" ADD CONSTRAINT "quota_organization_id_fkey"
  FOREIGN KEY ("organization_id") REFERENCES "organization"("id") ON DELETE CASCADE ON UPDATE CASCADE;
ALTER TABLE "quota" ADD CONSTRAINT "quota_project_id_fkey"
  FOREIGN KEY ("project_id") REFERENCES "project"("id") ON DELETE CASCADE ON UPDATE CASCADE;
-- What is used never falls below nothing, or the counting is wrong. Limits are numbers that a program can hold.
ALTER TABLE "quota" ADD CHECK (least("provisioned_bytes", "physical_bytes", "volumes", "snapshots", "running_rebuilds") >= 0),
  ADD CHECK (least("provisioned_bytes_max", "physical_bytes_max", "volumes_max", "snapshots_max",
    "requests_per_minute_max") >= 0),
  ADD CHECK (greatest("provisioned_bytes_max", "physical_bytes_max", "volumes_max", "snapshots_max",
    "requests_per_minute_max") <= 9007199254740991);

-- What a transaction takes or gives back, until it commits: only then are the quotas' rows locked, after everything else, so that no
-- two transactions wait for each other because of them. Rows live within their transaction; nothing of them need survive a crash.
CREATE UNLOGGED TABLE "quota_change" (
    "id" BIGSERIAL NOT NULL,
    "organization_id" UUID NOT NULL,
    "project_id" UUID NOT NULL,
    "provisioned_bytes" DECIMAL(30,0) NOT NULL DEFAULT 0,
    "physical_bytes" DECIMAL(30,0) NOT NULL DEFAULT 0,
    "volumes" BIGINT NOT NULL DEFAULT 0,
    "snapshots" BIGINT NOT NULL DEFAULT 0,
    "running_rebuilds" BIGINT NOT NULL DEFAULT 0,

    CONSTRAINT "quota_change_pkey" PRIMARY KEY ("id")
);

DO $$
DECLARE
  isolated text;
BEGIN
  FOREACH isolated IN ARRAY ARRAY['quota', 'quota_change'] LOOP
    EXECUTE format('ALTER TABLE %I ENABLE ROW LEVEL SECURITY', isolated);
    EXECUTE format('ALTER TABLE %I FORCE ROW LEVEL SECURITY', isolated);
    EXECUTE format(
      'CREATE POLICY api_isolation ON %I TO holdfast_api '
      'USING (organization_id = (SELECT current_organization_id())) '
      'WITH CHECK (organization_id = (SELECT current_organization_id()))', isolated);
    EXECUTE format(
      'CREATE POLICY system_access ON %I TO holdfast_system USING (true) WITH CHECK (true)', isolated);
  END LOOP;
END
$$;
GRANT SELECT, UPDATE ON "quota" TO holdfast_api, holdfast_system;
GRANT SELECT, INSERT, DELETE ON "quota_change" TO holdfast_api, holdfast_system;
GRANT USAGE ON SEQUENCE "quota_change_id_seq" TO holdfast_api, holdfast_system;

-- A volume that grows counts with the size that it grows to, from the moment that was asked for.
CREATE FUNCTION provisioned_bytes(size_bytes bigint, layer_task jsonb) RETURNS bigint
  LANGUAGE sql IMMUTABLE PARALLEL SAFE
  RETURN greatest(size_bytes, CASE WHEN layer_task->>'kind' = 'expand' THEN (layer_task->>'sizeBytes')::bigint END);

-- What is there already. The owner is held to policies that show it nothing, so they are lifted for this migration.
DO $$
DECLARE
  counted text;
BEGIN
  FOREACH counted IN ARRAY ARRAY['organization', 'project', 'volume', 'snapshot', 'rebuild', 'quota'] LOOP
    EXECUTE format('ALTER TABLE %I NO FORCE ROW LEVEL SECURITY', counted);
  END LOOP;
END
$$;
INSERT INTO "quota" (id, organization_id)
  SELECT id, id FROM "organization";
INSERT INTO "quota" (id, organization_id, project_id)
  SELECT id, organization_id, id FROM "project";
-- Each organization and project has its row from the beginning, so that taking is an UPDATE. As the owner: the row belongs to an
-- organization that the current transaction need not be of.
CREATE POLICY owner_makes_quotas ON "quota" FOR INSERT TO CURRENT_USER WITH CHECK (true);
CREATE FUNCTION make_quota() RETURNS trigger
  LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, public
  AS $$
  BEGIN
    IF TG_TABLE_NAME = 'project' THEN
      INSERT INTO quota (id, organization_id, project_id) VALUES (NEW.id, NEW.organization_id, NEW.id);
    ELSE
      INSERT INTO quota (id, organization_id) VALUES (NEW.id, NEW.id);
    END IF;
    RETURN NULL;
  END
  $$;
CREATE TRIGGER make_quota AFTER INSERT ON "organization" FOR EACH ROW EXECUTE FUNCTION make_quota();
CREATE TRIGGER make_quota AFTER INSERT ON "project" FOR EACH ROW EXECUTE FUNCTION make_quota();

-- Takes of the quotas of an organization and a project, or gives back, when the transaction commits. What grows must stay within the
-- limits; what shrinks may do so although a limit that was lowered since is passed. The organization's row is locked first.
CREATE FUNCTION take_quota() RETURNS trigger LANGUAGE plpgsql SET search_path = pg_catalog, public
  AS $$
  DECLARE
    q quota;
    passed record;
  BEGIN
    FOR q IN
      SELECT * FROM quota WHERE id IN (NEW.organization_id, NEW.project_id) ORDER BY project_id NULLS FIRST
      FOR NO KEY UPDATE
    LOOP
      SELECT * INTO passed FROM (VALUES
        ('provisionedBytes', q.provisioned_bytes_max, q.provisioned_bytes, NEW.provisioned_bytes),
        ('physicalBytes', q.physical_bytes_max, q.physical_bytes, NEW.physical_bytes),
        ('volumes', q.volumes_max, q.volumes, NEW.volumes),
        ('snapshots', q.snapshots_max, q.snapshots, NEW.snapshots)
      ) AS d(dimension, most, used, asked) WHERE d.asked > 0 AND d.used + d.asked > d.most LIMIT 1;
      IF FOUND THEN
        RAISE EXCEPTION 'the quota of % is passed', passed.dimension USING ERRCODE = 'HQ001', DETAIL = json_build_object(
          'scope', CASE WHEN q.project_id IS NULL THEN 'organization' ELSE 'project' END,
          'dimension', passed.dimension, 'limit', passed.most, 'used', passed.used, 'asked', passed.asked);
      END IF;
      UPDATE quota SET provisioned_bytes = provisioned_bytes + NEW.provisioned_bytes,
        physical_bytes = physical_bytes + NEW.physical_bytes, volumes = volumes + NEW.volumes,
        snapshots = snapshots + NEW.snapshots, running_rebuilds = running_rebuilds + NEW.running_rebuilds
      WHERE id = q.id;
    END LOOP;
    DELETE FROM quota_change WHERE id = NEW.id;
    RETURN NULL;
  END
  $$;
CREATE CONSTRAINT TRIGGER take_quota AFTER INSERT ON "quota_change" DEFERRABLE INITIALLY DEFERRED
  FOR EACH ROW EXECUTE FUNCTION take_quota();

-- New volumes of one statement count together: many may share a transaction.
CREATE FUNCTION count_new_volumes() RETURNS trigger LANGUAGE plpgsql SET search_path = pg_catalog, public
  AS $$
  BEGIN
    INSERT INTO quota_change (organization_id, project_id, provisioned_bytes, physical_bytes, volumes)
    SELECT organization_id, project_id, sum(provisioned_bytes(size_bytes, layer_task)),
      sum(provisioned_bytes(size_bytes, layer_task)::numeric * number_of_replicas), count(*)
    FROM made GROUP BY organization_id, project_id;
    RETURN NULL;
  END
  $$;
CREATE TRIGGER count_quota AFTER INSERT ON "volume" REFERENCING NEW TABLE AS made
  FOR EACH STATEMENT EXECUTE FUNCTION count_new_volumes();

CREATE FUNCTION count_changed_volume() RETURNS trigger LANGUAGE plpgsql SET search_path = pg_catalog, public
  AS $$
  DECLARE
    before_bytes numeric := provisioned_bytes(OLD.size_bytes, OLD.layer_task);
    after_bytes numeric := provisioned_bytes(NEW.size_bytes, NEW.layer_task);
  BEGIN
    INSERT INTO quota_change (organization_id, project_id, provisioned_bytes, physical_bytes)
    VALUES (OLD.organization_id, OLD.project_id, after_bytes - before_bytes,
      after_bytes * NEW.number_of_replicas - before_bytes * OLD.number_of_replicas);
    RETURN NULL;
  END
  $$;
CREATE TRIGGER count_quota_change AFTER UPDATE OF "size_bytes", "number_of_replicas", "layer_task" ON "volume" FOR EACH ROW
  WHEN (OLD.number_of_replicas <> NEW.number_of_replicas
    OR provisioned_bytes(OLD.size_bytes, OLD.layer_task) <> provisioned_bytes(NEW.size_bytes, NEW.layer_task))
  EXECUTE FUNCTION count_changed_volume();

-- Before the row goes: its snapshots and rebuilds go with it, and would not find its project any more.
CREATE FUNCTION count_gone_volume() RETURNS trigger LANGUAGE plpgsql SET search_path = pg_catalog, public
  AS $$
  DECLARE
    bytes numeric := provisioned_bytes(OLD.size_bytes, OLD.layer_task);
  BEGIN
    INSERT INTO quota_change (organization_id, project_id, provisioned_bytes, physical_bytes, volumes, snapshots, running_rebuilds)
    VALUES (OLD.organization_id, OLD.project_id, -bytes, -bytes * OLD.number_of_replicas, -1,
      -(SELECT count(*) FROM snapshot WHERE volume_id = OLD.id AND origin = 'user'),
      -(SELECT count(*) FROM rebuild WHERE volume_id = OLD.id AND state = 'running'));
    RETURN OLD;
  END
  $$;
CREATE TRIGGER count_quota_back BEFORE DELETE ON "volume" FOR EACH ROW EXECUTE FUNCTION count_gone_volume();

-- Users' snapshots and running rebuilds, those of one statement together. Of a volume that goes they have been given back with it.
CREATE FUNCTION count_new_parts() RETURNS trigger LANGUAGE plpgsql SET search_path = pg_catalog, public
  AS $$
  BEGIN
    IF TG_TABLE_NAME = 'snapshot' THEN
      INSERT INTO quota_change (organization_id, project_id, snapshots)
      SELECT v.organization_id, v.project_id, count(*) FROM made m JOIN volume v ON v.id = m.volume_id
      WHERE m.origin = 'user' GROUP BY v.organization_id, v.project_id;
    ELSE
      INSERT INTO quota_change (organization_id, project_id, running_rebuilds)
      SELECT v.organization_id, v.project_id, count(*) FROM made m JOIN volume v ON v.id = m.volume_id
      WHERE m.state = 'running' GROUP BY v.organization_id, v.project_id;
    END IF;
    RETURN NULL;
  END
  $$;
CREATE TRIGGER count_quota AFTER INSERT ON "snapshot" REFERENCING NEW TABLE AS made
  FOR EACH STATEMENT EXECUTE FUNCTION count_new_parts();
CREATE TRIGGER count_quota AFTER INSERT ON "rebuild" REFERENCING NEW TABLE AS made
  FOR EACH STATEMENT EXECUTE FUNCTION count_new_parts();

CREATE FUNCTION count_changed_part() RETURNS trigger LANGUAGE plpgsql SET search_path = pg_catalog, public
  AS $$
  DECLARE
    of_volume uuid := OLD.volume_id;
    new_snapshots integer := 0;
    new_rebuilds integer := 0;
  BEGIN
    -- Of a row that goes it is one less; of one that changes the WHEN of its trigger says that it is one more or one less.
    IF TG_TABLE_NAME = 'snapshot' THEN
      new_snapshots := CASE WHEN TG_OP = 'UPDATE' AND OLD.origin <> 'user' THEN 1 ELSE -1 END;
    ELSE
      new_rebuilds := CASE WHEN TG_OP = 'UPDATE' AND OLD.state <> 'running' THEN 1 ELSE -1 END;
    END IF;
    INSERT INTO quota_change (organization_id, project_id, snapshots, running_rebuilds)
    SELECT organization_id, project_id, new_snapshots, new_rebuilds FROM volume WHERE id = of_volume;
    RETURN NULL;
  END
  $$;
CREATE TRIGGER count_quota_change AFTER UPDATE OF "origin" ON "snapshot" FOR EACH ROW
  WHEN ((OLD.origin = 'user') <> (NEW.origin = 'user')) EXECUTE FUNCTION count_changed_part();
CREATE TRIGGER count_quota_back AFTER DELETE ON "snapshot" FOR EACH ROW WHEN (OLD.origin = 'user')
  EXECUTE FUNCTION count_changed_part();
CREATE TRIGGER count_quota_change AFTER UPDATE OF "state" ON "rebuild" FOR EACH ROW
  WHEN ((OLD.state = 'running') <> (NEW.state = 'running')) EXECUTE FUNCTION count_changed_part();
CREATE TRIGGER count_quota_back AFTER DELETE ON "rebuild" FOR EACH ROW WHEN (OLD.state = 'running')
  EXECUTE FUNCTION count_changed_part();

-- Is what is counted what there is? One row for each quota that it is not, for tests and for who looks after a database.
CREATE FUNCTION wrong_quotas() RETURNS TABLE (id uuid, counted numeric[], there numeric[])
  LANGUAGE sql STABLE SET search_path = pg_catalog, public
  AS $$
    WITH used AS (
      SELECT v.organization_id, v.project_id, provisioned_bytes(v.size_bytes, v.layer_task) AS bytes, v.number_of_replicas AS copies,
        (SELECT count(*) FROM snapshot s WHERE s.volume_id = v.id AND s.origin = 'user') AS snapshots,
        (SELECT count(*) FROM rebuild r WHERE r.volume_id = v.id AND r.state = 'running') AS rebuilds
      FROM volume v
    ), sums AS (
      SELECT scope, sum(bytes) AS bytes, sum(bytes::numeric * copies) AS physical, count(*) AS volumes,
        sum(snapshots) AS snapshots, sum(rebuilds) AS rebuilds
      FROM used, unnest(ARRAY[organization_id, project_id]) AS scope GROUP BY scope
    ), compared AS (
      SELECT q.id, ARRAY[q.provisioned_bytes, q.physical_bytes, q.volumes, q.snapshots, q.running_rebuilds] AS counted,
        CASE WHEN s.scope IS NULL THEN ARRAY[0, 0, 0, 0, 0]::numeric[]
          ELSE ARRAY[s.bytes, s.physical, s.volumes, s.snapshots, s.rebuilds] END AS there
      FROM quota q LEFT JOIN sums s ON s.scope = q.id
    )
    SELECT c.id, c.counted, c.there FROM compared c WHERE c.counted <> c.there
  $$;

UPDATE "quota" q SET provisioned_bytes = w.there[1], physical_bytes = w.there[2], volumes = w.there[3], snapshots = w.there[4],
  running_rebuilds = w.there[5]
FROM wrong_quotas() w WHERE w.id = q.id;

DO $$
DECLARE
  counted text;
BEGIN
  FOREACH counted IN ARRAY ARRAY['organization', 'project', 'volume', 'snapshot', 'rebuild', 'quota'] LOOP
    EXECUTE format('ALTER TABLE %I FORCE ROW LEVEL SECURITY', counted);
  END LOOP;
END
$$;
