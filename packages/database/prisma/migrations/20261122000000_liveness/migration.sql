-- Since when heartbeats of a cluster could be recorded without a break, and when that was last so: silence of agents
-- counts only in between. Written by API processes once a second, by this server's clock. Programs of the version before
-- do not write it; workers then judge by their own start, as before.
CREATE TABLE "cluster_listening" (
    "cluster_id" UUID NOT NULL,
    "organization_id" UUID NOT NULL,
    "since" TIMESTAMPTZ(3) NOT NULL,
    "at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "cluster_listening_pkey" PRIMARY KEY ("cluster_id")
);

ALTER TABLE "cluster_listening" ADD CONSTRAINT "cluster_listening_cluster_id_fkey" FOREIGN KEY ("cluster_id") REFERENCES "cluster"("id") ON DELETE CASCADE ON UPDATE CASCADE;

ALTER TABLE "cluster_listening" ENABLE ROW LEVEL SECURITY;
ALTER TABLE "cluster_listening" FORCE ROW LEVEL SECURITY;
CREATE POLICY api_isolation ON "cluster_listening" TO holdfast_api
  USING (organization_id = (SELECT current_organization_id()))
  WITH CHECK (organization_id = (SELECT current_organization_id()));
CREATE POLICY system_access ON "cluster_listening" TO holdfast_system USING (true) WITH CHECK (true);
GRANT SELECT ON "cluster_listening" TO holdfast_api;
GRANT SELECT, INSERT, UPDATE, DELETE ON "cluster_listening" TO holdfast_system;

-- Lives of a node's agent that a newer one has replaced, and the last one that was refused because another agent of that
-- name answers. Programs of the version before name neither.
ALTER TABLE "node" ADD COLUMN "past_boot_ids" UUID[] DEFAULT ARRAY[]::UUID[],
ADD COLUMN "refused_boot_id" UUID;
