-- The one-time link by which the first account of a fresh control plane is made: one for an organization, the newest.
CREATE TABLE "first_link" (
    "organization_id" UUID NOT NULL,
    "secret_hash" TEXT NOT NULL,
    "expires_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "first_link_pkey" PRIMARY KEY ("organization_id")
);
CREATE UNIQUE INDEX "first_link_secret_hash_key" ON "first_link"("secret_hash");
ALTER TABLE "first_link" ADD CONSTRAINT "first_link_organization_id_fkey"
  FOREIGN KEY ("organization_id") REFERENCES "organization"("id") ON DELETE CASCADE ON UPDATE CASCADE;
-- Used before there is a caller, so only the system role sees it.
ALTER TABLE "first_link" ENABLE ROW LEVEL SECURITY;
ALTER TABLE "first_link" FORCE ROW LEVEL SECURITY;
CREATE POLICY api_isolation ON "first_link" TO holdfast_api USING (false) WITH CHECK (false);
CREATE POLICY system_access ON "first_link" TO holdfast_system USING (true) WITH CHECK (true);
GRANT SELECT, INSERT, UPDATE, DELETE ON "first_link" TO holdfast_system;
