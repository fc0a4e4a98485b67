-- The certificate authorities of the control plane, with their keys: for the system role only.
CREATE TABLE "authority" (
    "id" UUID NOT NULL,
    "certificate" TEXT NOT NULL,
    "key" TEXT NOT NULL,
    "signs_from" TIMESTAMPTZ(3) NOT NULL,
    "not_after" TIMESTAMPTZ(3) NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "authority_pkey" PRIMARY KEY ("id")
);
ALTER TABLE "authority" ENABLE ROW LEVEL SECURITY;
ALTER TABLE "authority" FORCE ROW LEVEL SECURITY;
CREATE POLICY api_isolation ON "authority" TO holdfast_api USING (false) WITH CHECK (false);
CREATE POLICY system_access ON "authority" TO holdfast_system USING (true) WITH CHECK (true);
GRANT SELECT, INSERT, UPDATE, DELETE ON "authority" TO holdfast_system;

-- What lets an agent join a cluster; it does not let it do anything else.
CREATE TABLE "join_token" (
    "id" UUID NOT NULL,
    "organization_id" UUID NOT NULL,
    "cluster_id" UUID NOT NULL,
    "name" TEXT NOT NULL,
    "node_name" TEXT,
    "secret_hash" TEXT NOT NULL,
    "uses" INTEGER NOT NULL DEFAULT 0,
    "uses_max" INTEGER NOT NULL,
    "expires_at" TIMESTAMPTZ(3),
    "created_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "join_token_pkey" PRIMARY KEY ("id")
);
CREATE UNIQUE INDEX "join_token_secret_hash_key" ON "join_token"("secret_hash");
CREATE INDEX "join_token_cluster_id_id_idx" ON "join_token"("cluster_id", "id");
ALTER TABLE "join_token" ADD CONSTRAINT "join_token_cluster_id_fkey" FOREIGN KEY ("cluster_id") REFERENCES "cluster"("id") ON DELETE CASCADE ON UPDATE CASCADE;
ALTER TABLE "join_token" ADD CHECK ("uses" BETWEEN 0 AND "uses_max");

-- Who a node's agent is: the key that its certificates are for. It may be there before the node, which the first heartbeat makes.
CREATE TABLE "node_identity" (
    "node_id" UUID NOT NULL,
    "organization_id" UUID NOT NULL,
    "cluster_id" UUID NOT NULL,
    "name" TEXT NOT NULL,
    "key_hash" TEXT NOT NULL,
    "joined_at" TIMESTAMPTZ(3) NOT NULL,
    "certificate_not_after" TIMESTAMPTZ(3) NOT NULL,
    "revoked_at" TIMESTAMPTZ(3),

    CONSTRAINT "node_identity_pkey" PRIMARY KEY ("node_id")
);
CREATE UNIQUE INDEX "node_identity_cluster_id_name_key" ON "node_identity"("cluster_id", "name");
CREATE UNIQUE INDEX "node_identity_key_hash_key" ON "node_identity"("key_hash");
ALTER TABLE "node_identity" ADD CONSTRAINT "node_identity_cluster_id_fkey" FOREIGN KEY ("cluster_id") REFERENCES "cluster"("id") ON DELETE CASCADE ON UPDATE CASCADE;

DO $$
DECLARE
  named text;
BEGIN
  FOREACH named IN ARRAY ARRAY['join_token', 'node_identity'] LOOP
    EXECUTE format('ALTER TABLE %I ENABLE ROW LEVEL SECURITY', named);
    EXECUTE format('ALTER TABLE %I FORCE ROW LEVEL SECURITY', named);
    EXECUTE format(
      'CREATE POLICY api_isolation ON %I TO holdfast_api '
      'USING (organization_id = (SELECT current_organization_id())) '
      'WITH CHECK (organization_id = (SELECT current_organization_id()))', named);
    EXECUTE format(
      'CREATE POLICY token_clusters ON %I AS RESTRICTIVE TO holdfast_api '
      'USING ((SELECT current_cluster_ids()) IS NULL OR cluster_id = ANY ((SELECT current_cluster_ids())::uuid[]))',
      named);
    EXECUTE format('CREATE POLICY system_access ON %I TO holdfast_system USING (true) WITH CHECK (true)', named);
    EXECUTE format('GRANT SELECT, INSERT, UPDATE, DELETE ON %I TO holdfast_api, holdfast_system', named);
  END LOOP;
END
$$;

-- Agents have certificates now: the tokens that let any of them speak for any node go.
DELETE FROM "token" WHERE kind = 'agent';
