-- Grants: an organization lets another one, `organization_id`, place volumes in one of its clusters, up to limits and on nodes and
-- disks with certain tags. What is used is counted by the triggers of quotas.
CREATE TABLE "cluster_grant" (
    "id" UUID NOT NULL,
    "cluster_id" UUID NOT NULL,
    "owner_organization_id" UUID NOT NULL,
    "organization_id" UUID NOT NULL,
    "provisioned_bytes_max" BIGINT,
    "volumes_max" BIGINT,
    "running_rebuilds_max" BIGINT,
    "node_tags" TEXT[] NOT NULL,
    "disk_tags" TEXT[] NOT NULL,
    "provisioned_bytes" DECIMAL(30,0) NOT NULL DEFAULT 0,
    "volumes" BIGINT NOT NULL DEFAULT 0,
    "version" INTEGER NOT NULL DEFAULT 1,
    "created_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "cluster_grant_pkey" PRIMARY KEY ("id")
);
CREATE UNIQUE INDEX "cluster_grant_cluster_id_organization_id_key" ON "cluster_grant"("cluster_id", "organization_id");
CREATE INDEX "cluster_grant_organization_id_idx" ON "cluster_grant"("organization_id");
ALTER TABLE "cluster_grant" ADD CONSTRAINT "cluster_grant_cluster_id_fkey"
  FOREIGN KEY ("cluster_id") REFERENCES "cluster"("id") ON DELETE RESTRICT ON UPDATE CASCADE;
ALTER TABLE "cluster_grant" ADD CONSTRAINT "cluster_grant_organization_id_fkey"
  FOREIGN KEY ("organization_id") REFERENCES "organization"("id") ON DELETE RESTRICT ON UPDATE CASCADE;
ALTER TABLE "cluster_grant" ADD CHECK ("organization_id" <> "owner_organization_id"),
  ADD CHECK (least("provisioned_bytes", "volumes") >= 0),
  ADD CHECK (least("provisioned_bytes_max", "volumes_max", "running_rebuilds_max") >= 0),
  ADD CHECK (greatest("provisioned_bytes_max", "volumes_max", "running_rebuilds_max") <= 9007199254740991);

-- Both see it; only the cluster's organization makes, changes and ends it.
ALTER TABLE "cluster_grant" ENABLE ROW LEVEL SECURITY;
ALTER TABLE "cluster_grant" FORCE ROW LEVEL SECURITY;
CREATE POLICY api_isolation ON "cluster_grant" TO holdfast_api
  USING (owner_organization_id = (SELECT current_organization_id()))
  WITH CHECK (owner_organization_id = (SELECT current_organization_id())
    AND cluster_id IN (SELECT c.id FROM "cluster" c WHERE c.organization_id = (SELECT current_organization_id())));
CREATE POLICY grantee_reads ON "cluster_grant" FOR SELECT TO holdfast_api
  USING (organization_id = (SELECT current_organization_id()));
CREATE POLICY token_clusters ON "cluster_grant" AS RESTRICTIVE TO holdfast_api
  USING ((SELECT current_cluster_ids()) IS NULL OR cluster_id = ANY ((SELECT current_cluster_ids())::uuid[]));
CREATE POLICY system_access ON "cluster_grant" TO holdfast_system USING (true) WITH CHECK (true);
GRANT SELECT, INSERT, DELETE ON "cluster_grant" TO holdfast_api;
-- What is used is the triggers' to say.
GRANT UPDATE ("provisioned_bytes_max", "volumes_max", "running_rebuilds_max", "node_tags", "disk_tags", "version")
  ON "cluster_grant" TO holdfast_api;
GRANT SELECT, INSERT, UPDATE, DELETE ON "cluster_grant" TO holdfast_system;
CREATE POLICY owner_counts ON "cluster_grant" TO CURRENT_USER USING (true) WITH CHECK (true);
CREATE POLICY owner_counts ON "volume" TO CURRENT_USER USING (true) WITH CHECK (true);
CREATE POLICY owner_knows ON "organization" FOR SELECT TO CURRENT_USER USING (true);

-- Clusters that the current organization may place volumes in by a grant; only for transactions that place volumes, which say so.
CREATE FUNCTION granted_cluster_ids() RETURNS uuid[]
  LANGUAGE sql STABLE SET search_path = pg_catalog, public
  AS $$
    SELECT CASE WHEN current_setting('holdfast.granted', true) = 'on' THEN (
      SELECT array_agg(g.cluster_id) FROM public.cluster_grant g
      WHERE g.organization_id = public.current_organization_id()
    ) END
  $$;
CREATE POLICY granted ON "cluster" FOR SELECT TO holdfast_api
  USING (id = ANY ((SELECT granted_cluster_ids())::uuid[]));
-- To lock it against a change of its settings, and for nothing else.
CREATE POLICY granted_lock ON "cluster" FOR UPDATE TO holdfast_api
  USING (id = ANY ((SELECT granted_cluster_ids())::uuid[])) WITH CHECK (false);
CREATE POLICY granted ON "node" FOR SELECT TO holdfast_api
  USING (cluster_id = ANY ((SELECT granted_cluster_ids())::uuid[]));
CREATE POLICY granted ON "setting" FOR SELECT TO holdfast_api
  USING (cluster_id = ANY ((SELECT granted_cluster_ids())::uuid[]));
CREATE POLICY granted ON "cluster_listening" FOR SELECT TO holdfast_api
  USING (cluster_id = ANY ((SELECT granted_cluster_ids())::uuid[]));
CREATE POLICY granted ON "disk" FOR SELECT TO holdfast_api
  USING (cluster_id = ANY ((SELECT granted_cluster_ids())::uuid[]));
-- To book space on it.
CREATE POLICY granted_booking ON "disk" FOR UPDATE TO holdfast_api
  USING (cluster_id = ANY ((SELECT granted_cluster_ids())::uuid[]))
  WITH CHECK (cluster_id = ANY ((SELECT granted_cluster_ids())::uuid[]));
CREATE FUNCTION only_books() RETURNS trigger LANGUAGE plpgsql SET search_path = pg_catalog, public
  AS $$
  BEGIN
    IF NEW.organization_id <> current_organization_id()
      AND to_jsonb(NEW) - ARRAY['storage_scheduled_bytes', 'written_bytes'] IS DISTINCT FROM
        to_jsonb(OLD) - ARRAY['storage_scheduled_bytes', 'written_bytes']
    THEN
      RAISE EXCEPTION 'a grant lets space be booked on disk %, and nothing else', OLD.id USING ERRCODE = '42501';
    END IF;
    RETURN NEW;
  END
  $$;
CREATE TRIGGER only_books BEFORE UPDATE ON "disk" FOR EACH ROW
  WHEN (current_setting('holdfast.granted', true) = 'on') EXECUTE FUNCTION only_books();

-- Is anything of any organization on the node? Its own organization sees no more of others' volumes than that.
CREATE POLICY owner_knows ON "replica" FOR SELECT TO CURRENT_USER USING (true);
CREATE FUNCTION node_is_used(of_node uuid) RETURNS boolean
  LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, public
  AS $$
    SELECT EXISTS (SELECT FROM public.replica WHERE node_id = of_node)
      OR EXISTS (SELECT FROM public.volume WHERE attached_node_id = of_node)
  $$;
REVOKE ALL ON FUNCTION node_is_used(uuid) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION node_is_used(uuid) TO holdfast_api, holdfast_system;

-- Does this organization exist? An owner names the one that it grants to.
CREATE FUNCTION organization_exists(wanted uuid) RETURNS boolean
  LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, public
  AS $$ SELECT EXISTS (SELECT FROM public.organization WHERE id = wanted) $$;
REVOKE ALL ON FUNCTION organization_exists(uuid) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION organization_exists(uuid) TO holdfast_api, holdfast_system;

-- Tags that the grant demands of the places of a volume's copies; NULL: the cluster is the volume's organization's own.
ALTER TABLE "volume" ADD COLUMN "granted_tags" JSONB;
CREATE FUNCTION granted_tags(node_tags text[], disk_tags text[]) RETURNS jsonb LANGUAGE sql IMMUTABLE PARALLEL SAFE
  RETURN jsonb_build_object('nodeTags', node_tags, 'diskTags', disk_tags);

-- No volume is in another organization's cluster without a grant, and each has the tags of its grant. The lock waits for a change of
-- the tags, whose transaction then sees the volume.
CREATE FUNCTION holds_grant(of_cluster uuid, of_organization uuid, tags jsonb) RETURNS boolean
  LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, public
  AS $$
  BEGIN
    PERFORM FROM cluster_grant g WHERE g.cluster_id = of_cluster AND g.organization_id = of_organization
      AND granted_tags(g.node_tags, g.disk_tags) = tags FOR KEY SHARE;
    RETURN FOUND;
  END
  $$;
REVOKE ALL ON FUNCTION holds_grant(uuid, uuid, jsonb) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION holds_grant(uuid, uuid, jsonb) TO holdfast_api, holdfast_system;

CREATE FUNCTION tell_granted_tags() RETURNS trigger
  LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, public
  AS $$
  BEGIN
    UPDATE volume SET granted_tags = granted_tags(NEW.node_tags, NEW.disk_tags), version = version + 1,
      reconcile_due_at = 'epoch', reconcile_marks = reconcile_marks + 1
    WHERE cluster_id = NEW.cluster_id AND organization_id = NEW.organization_id;
    RETURN NULL;
  END
  $$;
CREATE TRIGGER tell_granted_tags AFTER UPDATE OF "node_tags", "disk_tags" ON "cluster_grant" FOR EACH ROW
  WHEN (OLD.node_tags <> NEW.node_tags OR OLD.disk_tags <> NEW.disk_tags) EXECUTE FUNCTION tell_granted_tags();

-- Takes of a grant, or gives back, when the transaction commits: after the organization's quota, whose lock keeps the order.
ALTER TABLE "quota_change" ADD COLUMN "granted_cluster_id" UUID;
CREATE FUNCTION take_grant(of_cluster uuid, of_organization uuid, bytes numeric, count bigint) RETURNS void
  LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, public
  AS $$
  DECLARE
    g cluster_grant;
    passed record;
  BEGIN
    SELECT * INTO g FROM cluster_grant WHERE cluster_id = of_cluster AND organization_id = of_organization FOR NO KEY UPDATE;
    IF NOT FOUND THEN
      RAISE EXCEPTION 'the grant of cluster % is gone', of_cluster USING ERRCODE = '40001';
    END IF;
    SELECT * INTO passed FROM (VALUES
      ('provisionedBytes', g.provisioned_bytes_max, g.provisioned_bytes, bytes),
      ('volumes', g.volumes_max, g.volumes, count)
    ) AS d(dimension, most, used, asked) WHERE d.asked > 0 AND d.used + d.asked > d.most LIMIT 1;
    IF FOUND THEN
      RAISE EXCEPTION 'the grant of % is passed', passed.dimension USING ERRCODE = 'HQ001', DETAIL = json_build_object(
        'scope', 'grant', 'dimension', passed.dimension, 'limit', passed.most, 'used', passed.used, 'asked', passed.asked);
    END IF;
    UPDATE cluster_grant SET provisioned_bytes = provisioned_bytes + bytes, volumes = volumes + count WHERE id = g.id;
  END
  $$;
REVOKE ALL ON FUNCTION take_grant(uuid, uuid, numeric, bigint) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION take_grant(uuid, uuid, numeric, bigint) TO holdfast_api, holdfast_system;
CREATE FUNCTION take_of_grant() RETURNS trigger LANGUAGE plpgsql SET search_path = pg_catalog, public
  AS $$
  BEGIN
    PERFORM take_grant(NEW.granted_cluster_id, NEW.organization_id, NEW.provisioned_bytes, NEW.volumes);
    RETURN NULL;
  END
  $$;
-- By name after `take_quota`, so that the organization's lock is taken first.
CREATE CONSTRAINT TRIGGER take_quota_of_grant AFTER INSERT ON "quota_change" DEFERRABLE INITIALLY DEFERRED
  FOR EACH ROW WHEN (NEW.granted_cluster_id IS NOT NULL) EXECUTE FUNCTION take_of_grant();

CREATE OR REPLACE FUNCTION count_new_volumes() RETURNS trigger LANGUAGE plpgsql SET search_path = pg_catalog, public
  AS $$
  BEGIN
    IF EXISTS (
      SELECT FROM made m WHERE NOT CASE WHEN m.granted_tags IS NULL
        THEN EXISTS (SELECT FROM cluster c WHERE c.id = m.cluster_id AND c.organization_id = m.organization_id)
        ELSE holds_grant(m.cluster_id, m.organization_id, m.granted_tags) END
    ) THEN
      RAISE EXCEPTION 'the cluster is another organization''s, or its grant has changed' USING ERRCODE = '40001';
    END IF;
    INSERT INTO quota_change (organization_id, project_id, granted_cluster_id, provisioned_bytes, physical_bytes, volumes)
    SELECT organization_id, project_id, CASE WHEN granted_tags IS NOT NULL THEN cluster_id END,
      sum(provisioned_bytes(size_bytes, layer_task)),
      sum(provisioned_bytes(size_bytes, layer_task)::numeric * number_of_replicas), count(*)
    FROM made GROUP BY 1, 2, 3;
    RETURN NULL;
  END
  $$;

CREATE OR REPLACE FUNCTION count_changed_volume() RETURNS trigger LANGUAGE plpgsql SET search_path = pg_catalog, public
  AS $$
  DECLARE
    before_bytes numeric := provisioned_bytes(OLD.size_bytes, OLD.layer_task);
    after_bytes numeric := provisioned_bytes(NEW.size_bytes, NEW.layer_task);
  BEGIN
    INSERT INTO quota_change (organization_id, project_id, granted_cluster_id, provisioned_bytes, physical_bytes)
    VALUES (OLD.organization_id, OLD.project_id, CASE WHEN OLD.granted_tags IS NOT NULL THEN OLD.cluster_id END,
      after_bytes - before_bytes, after_bytes * NEW.number_of_replicas - before_bytes * OLD.number_of_replicas);
    RETURN NULL;
  END
  $$;

CREATE OR REPLACE FUNCTION count_gone_volume() RETURNS trigger LANGUAGE plpgsql SET search_path = pg_catalog, public
  AS $$
  DECLARE
    bytes numeric := provisioned_bytes(OLD.size_bytes, OLD.layer_task);
  BEGIN
    INSERT INTO quota_change (organization_id, project_id, granted_cluster_id, provisioned_bytes, physical_bytes, volumes, snapshots,
      running_rebuilds)
    VALUES (OLD.organization_id, OLD.project_id, CASE WHEN OLD.granted_tags IS NOT NULL THEN OLD.cluster_id END,
      -bytes, -bytes * OLD.number_of_replicas, -1,
      -(SELECT count(*) FROM snapshot WHERE volume_id = OLD.id AND origin = 'user'),
      -(SELECT count(*) FROM rebuild WHERE volume_id = OLD.id AND state = 'running'));
    RETURN OLD;
  END
  $$;

-- As `wrong_quotas`: one row for each grant that does not count what there is.
CREATE FUNCTION wrong_grants() RETURNS TABLE (id uuid, counted numeric[], there numeric[])
  LANGUAGE sql STABLE SET search_path = pg_catalog, public
  AS $$
    SELECT g.id, ARRAY[g.provisioned_bytes, g.volumes], ARRAY[v.bytes, v.volumes]
    FROM cluster_grant g, LATERAL (
      SELECT coalesce(sum(provisioned_bytes(size_bytes, layer_task)), 0) AS bytes, count(*)::numeric AS volumes FROM volume
      WHERE cluster_id = g.cluster_id AND organization_id = g.organization_id
    ) v
    WHERE ARRAY[g.provisioned_bytes, g.volumes] <> ARRAY[v.bytes, v.volumes]
  $$;
