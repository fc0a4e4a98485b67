-- What an operator has to look after in a cluster, and silences over it.
CREATE TABLE "silence" (
    "id" UUID NOT NULL,
    "organization_id" UUID NOT NULL,
    "cluster_id" UUID NOT NULL,
    "matcher" TEXT NOT NULL,
    "comment" TEXT NOT NULL,
    "starts_at" TIMESTAMPTZ(3) NOT NULL,
    "ends_at" TIMESTAMPTZ(3) NOT NULL,
    "author" TEXT NOT NULL,
    "version" INTEGER NOT NULL DEFAULT 1,
    "created_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "silence_pkey" PRIMARY KEY ("id")
);
CREATE INDEX "silence_cluster_id_ends_at_idx" ON "silence"("cluster_id", "ends_at");
ALTER TABLE "silence" ADD CONSTRAINT "silence_cluster_id_fkey"
  FOREIGN KEY ("cluster_id") REFERENCES "cluster"("id") ON DELETE CASCADE ON UPDATE CASCADE;
ALTER TABLE "silence" ADD CHECK ("ends_at" >= "starts_at");

CREATE TABLE "alert" (
    "id" UUID NOT NULL,
    "organization_id" UUID NOT NULL,
    "cluster_id" UUID NOT NULL,
    "rule" TEXT NOT NULL,
    "severity" TEXT NOT NULL,
    "subject_kind" TEXT NOT NULL,
    "subject_id" TEXT NOT NULL,
    "subject_name" TEXT NOT NULL,
    "message" TEXT NOT NULL,
    "effects" JSONB NOT NULL,
    "since" TIMESTAMPTZ(3) NOT NULL,
    "changed_at" TIMESTAMPTZ(3) NOT NULL,
    "resolved_at" TIMESTAMPTZ(3),
    "told_at" TIMESTAMPTZ(3),
    "silence_id" UUID,

    CONSTRAINT "alert_pkey" PRIMARY KEY ("id")
);
CREATE INDEX "alert_cluster_id_resolved_at_idx" ON "alert"("cluster_id", "resolved_at");
-- A cause has one alert at a time.
CREATE UNIQUE INDEX "alert_firing_key" ON "alert"("cluster_id", "rule", "subject_id") WHERE "resolved_at" IS NULL;
ALTER TABLE "alert" ADD CONSTRAINT "alert_cluster_id_fkey"
  FOREIGN KEY ("cluster_id") REFERENCES "cluster"("id") ON DELETE CASCADE ON UPDATE CASCADE;
ALTER TABLE "alert" ADD CHECK ("severity" IN ('warning', 'error'));

DO $$
DECLARE
  isolated text;
BEGIN
  FOREACH isolated IN ARRAY ARRAY['alert', 'silence'] LOOP
    EXECUTE format('ALTER TABLE %I ENABLE ROW LEVEL SECURITY', isolated);
    EXECUTE format('ALTER TABLE %I FORCE ROW LEVEL SECURITY', isolated);
    EXECUTE format(
      'CREATE POLICY api_isolation ON %I TO holdfast_api '
      'USING (organization_id = (SELECT current_organization_id())) '
      'WITH CHECK (organization_id = (SELECT current_organization_id()))', isolated);
    EXECUTE format(
      'CREATE POLICY system_access ON %I TO holdfast_system USING (true) WITH CHECK (true)', isolated);
    -- Alerts count volumes of all projects.
    EXECUTE format(
      'CREATE POLICY token_limits ON %I AS RESTRICTIVE TO holdfast_api USING ((SELECT current_project_ids()) IS NULL '
      'AND ((SELECT current_cluster_ids()) IS NULL OR cluster_id = ANY ((SELECT current_cluster_ids())::uuid[])))',
      isolated);
    EXECUTE format('GRANT SELECT, INSERT, UPDATE, DELETE ON %I TO holdfast_system', isolated);
  END LOOP;
END
$$;
GRANT SELECT ON "alert" TO holdfast_api;
GRANT SELECT, INSERT, UPDATE ON "silence" TO holdfast_api;
