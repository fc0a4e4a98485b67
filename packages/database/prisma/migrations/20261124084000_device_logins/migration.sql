-- Sign-ins of programs without a browser: the program polls by a secret while its user approves a short code elsewhere.
CREATE TABLE "device_login" (
    "secret_hash" TEXT NOT NULL,
    "user_code" TEXT NOT NULL,
    "name" TEXT NOT NULL,
    "address" TEXT NOT NULL,
    "expires_at" TIMESTAMPTZ(3) NOT NULL,
    -- Who has approved it, and in which organization; NULL: not yet.
    "user_id" UUID,
    "organization_id" UUID,
    "role" TEXT,

    CONSTRAINT "device_login_pkey" PRIMARY KEY ("secret_hash")
);
CREATE UNIQUE INDEX "device_login_user_code_key" ON "device_login"("user_code");
CREATE INDEX "device_login_expires_at_idx" ON "device_login"("expires_at");
ALTER TABLE "device_login" ADD CONSTRAINT "device_login_organization_id_user_id_fkey"
  FOREIGN KEY ("organization_id", "user_id") REFERENCES "membership"("organization_id", "user_id") ON DELETE CASCADE ON UPDATE CASCADE;
ALTER TABLE "device_login" ADD CHECK (("user_id" IS NULL) = ("organization_id" IS NULL)),
  ADD CHECK (("user_id" IS NULL) = ("role" IS NULL));
-- Expired ones are deleted, as invitations are.
CREATE INDEX "invitation_expires_at_idx" ON "invitation"("expires_at");
-- Made before there is a caller, so only the system role sees it.
ALTER TABLE "device_login" ENABLE ROW LEVEL SECURITY;
ALTER TABLE "device_login" FORCE ROW LEVEL SECURITY;
CREATE POLICY api_isolation ON "device_login" TO holdfast_api USING (false) WITH CHECK (false);
CREATE POLICY system_access ON "device_login" TO holdfast_system USING (true) WITH CHECK (true);
GRANT SELECT, INSERT, UPDATE, DELETE ON "device_login" TO holdfast_system;
