-- How full a cluster was: samples of five minutes for two days, and of an hour for a quarter.
CREATE TABLE "capacity_sample" (
    "organization_id" UUID NOT NULL,
    "cluster_id" UUID NOT NULL,
    "step_seconds" INTEGER NOT NULL,
    -- When its step began.
    "at" TIMESTAMPTZ(3) NOT NULL,
    -- When it was read.
    "taken_at" TIMESTAMPTZ(3) NOT NULL,
    "maximum_bytes" BIGINT NOT NULL,
    "available_bytes" BIGINT NOT NULL,
    "reserved_bytes" BIGINT NOT NULL,
    "scheduled_bytes" BIGINT NOT NULL,
    "written_bytes" BIGINT NOT NULL,
    -- Sent by rebuilds within the step.
    "rebuild_bytes" BIGINT NOT NULL,
    -- Sent, since they began, by the rebuilds that had not ended when it was read.
    "rebuild_open_bytes" BIGINT NOT NULL,

    CONSTRAINT "capacity_sample_pkey" PRIMARY KEY ("cluster_id", "step_seconds", "at")
);
ALTER TABLE "capacity_sample" ADD CONSTRAINT "capacity_sample_cluster_id_fkey"
  FOREIGN KEY ("cluster_id") REFERENCES "cluster"("id") ON DELETE CASCADE ON UPDATE CASCADE;
ALTER TABLE "capacity_sample" ADD CHECK ("step_seconds" IN (300, 3600));

ALTER TABLE "capacity_sample" ENABLE ROW LEVEL SECURITY;
ALTER TABLE "capacity_sample" FORCE ROW LEVEL SECURITY;
CREATE POLICY api_isolation ON "capacity_sample" TO holdfast_api
  USING (organization_id = (SELECT current_organization_id()));
CREATE POLICY system_access ON "capacity_sample" TO holdfast_system USING (true) WITH CHECK (true);
-- Samples sum the volumes of all projects up.
CREATE POLICY token_limits ON "capacity_sample" AS RESTRICTIVE TO holdfast_api USING ((SELECT current_project_ids()) IS NULL
  AND ((SELECT current_cluster_ids()) IS NULL OR cluster_id = ANY ((SELECT current_cluster_ids())::uuid[])));
GRANT SELECT ON "capacity_sample" TO holdfast_api;
GRANT SELECT, INSERT, UPDATE, DELETE ON "capacity_sample" TO holdfast_system;
