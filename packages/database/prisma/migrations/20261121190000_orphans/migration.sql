-- Copies on disks that no replica stands for. Programs of the version before neither read nor write them.
CREATE TABLE "orphan" (
    "id" UUID NOT NULL,
    "organization_id" UUID NOT NULL,
    "cluster_id" UUID NOT NULL,
    "node_id" UUID NOT NULL,
    "disk_id" UUID NOT NULL,
    "replica_id" UUID NOT NULL,
    "volume_id" UUID NOT NULL,
    "written_bytes" BIGINT NOT NULL,
    "record" JSONB,
    "first_seen_at" TIMESTAMPTZ(3) NOT NULL,
    "announced_at" TIMESTAMPTZ(3),
    "removal" JSONB,
    "version" INTEGER NOT NULL DEFAULT 1,

    CONSTRAINT "orphan_pkey" PRIMARY KEY ("id")
);

CREATE UNIQUE INDEX "orphan_disk_id_replica_id_key" ON "orphan"("disk_id", "replica_id");
CREATE INDEX "orphan_cluster_id_id_idx" ON "orphan"("cluster_id", "id");
CREATE INDEX "orphan_node_id_idx" ON "orphan"("node_id");
CREATE INDEX "orphan_replica_id_idx" ON "orphan"("replica_id");

ALTER TABLE "orphan" ADD CONSTRAINT "orphan_cluster_id_fkey" FOREIGN KEY ("cluster_id") REFERENCES "cluster"("id") ON DELETE CASCADE ON UPDATE CASCADE;
ALTER TABLE "orphan" ADD CONSTRAINT "orphan_node_id_fkey" FOREIGN KEY ("node_id") REFERENCES "node"("id") ON DELETE CASCADE ON UPDATE CASCADE;
ALTER TABLE "orphan" ADD CONSTRAINT "orphan_disk_id_fkey" FOREIGN KEY ("disk_id") REFERENCES "disk"("id") ON DELETE CASCADE ON UPDATE CASCADE;

ALTER TABLE "orphan" ADD CHECK ("written_bytes" BETWEEN 0 AND 9007199254740991);

ALTER TABLE "orphan" ENABLE ROW LEVEL SECURITY;
ALTER TABLE "orphan" FORCE ROW LEVEL SECURITY;
CREATE POLICY api_isolation ON "orphan" TO holdfast_api
  USING (organization_id = (SELECT current_organization_id()))
  WITH CHECK (organization_id = (SELECT current_organization_id()));
CREATE POLICY system_access ON "orphan" TO holdfast_system USING (true) WITH CHECK (true);
GRANT SELECT, INSERT, UPDATE, DELETE ON "orphan" TO holdfast_api, holdfast_system;

-- A replica that gets the id of an orphan takes it over, unless an agent may be removing that copy by now. The DELETE
-- waits for a claim that is being committed, and the question after it sees that claim.
CREATE FUNCTION take_over_orphan() RETURNS trigger LANGUAGE plpgsql SET search_path = pg_catalog, public
  AS $$
  BEGIN
    DELETE FROM orphan WHERE replica_id = NEW.id AND removal->>'claimedAt' IS NULL;
    IF EXISTS (SELECT FROM orphan WHERE replica_id = NEW.id) THEN
      RAISE EXCEPTION 'copy % is being removed', NEW.id USING ERRCODE = '40001';
    END IF;
    RETURN NEW;
  END
  $$;
CREATE TRIGGER take_over_orphan BEFORE INSERT ON "replica" FOR EACH ROW EXECUTE FUNCTION take_over_orphan();
