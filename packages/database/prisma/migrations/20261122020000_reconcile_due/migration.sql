-- When a volume's reconciler has to look at it next; null: not before something marks it due. Existing volumes are due at
-- once, and so is what programs of the version before create. Changes that those make to existing volumes mark nothing:
-- the volumes are still woken by the outbox, and a wake-up that is lost meanwhile is made up for by the next mark.
ALTER TABLE "volume" ADD COLUMN "reconcile_due_at" TIMESTAMPTZ(3) DEFAULT CURRENT_TIMESTAMP,
-- Counts the marks, so that a reconciler clears none that was set after it had loaded the volume.
ADD COLUMN "reconcile_marks" BIGINT NOT NULL DEFAULT 0;

CREATE INDEX "volume_reconcile_due_idx" ON "volume"("reconcile_due_at", "id") WHERE "reconcile_due_at" IS NOT NULL;
-- Volumes that wait for a node to be attached on: a change of any node may let them go on.
CREATE INDEX "volume_awaiting_node_idx" ON "volume"("cluster_id", "id") WHERE "attachment" IS NOT NULL AND "attached_node_id" IS NULL;

-- Walks over the volumes that a change of a node, a disk or a setting concerns, which mark them due in batches.
CREATE TABLE "reconcile_fan_out" (
    "subject_id" UUID NOT NULL,
    "subject_kind" TEXT NOT NULL,
    "organization_id" UUID NOT NULL,
    "cluster_id" UUID NOT NULL,
    "after_id" UUID NOT NULL,
    "again" BOOLEAN NOT NULL DEFAULT false,

    CONSTRAINT "reconcile_fan_out_pkey" PRIMARY KEY ("subject_id")
);

CREATE INDEX "reconcile_fan_out_cluster_id_idx" ON "reconcile_fan_out"("cluster_id");

ALTER TABLE "reconcile_fan_out" ADD CONSTRAINT "reconcile_fan_out_cluster_id_fkey" FOREIGN KEY ("cluster_id") REFERENCES "cluster"("id") ON DELETE CASCADE ON UPDATE CASCADE;

ALTER TABLE "reconcile_fan_out" ADD CHECK ("subject_kind" IN ('node', 'disk', 'cluster'));

ALTER TABLE "reconcile_fan_out" ENABLE ROW LEVEL SECURITY;
ALTER TABLE "reconcile_fan_out" FORCE ROW LEVEL SECURITY;
CREATE POLICY api_isolation ON "reconcile_fan_out" TO holdfast_api
  USING (organization_id = (SELECT current_organization_id()))
  WITH CHECK (organization_id = (SELECT current_organization_id()));
CREATE POLICY system_access ON "reconcile_fan_out" TO holdfast_system USING (true) WITH CHECK (true);
GRANT SELECT, INSERT, UPDATE, DELETE ON "reconcile_fan_out" TO holdfast_api, holdfast_system;
