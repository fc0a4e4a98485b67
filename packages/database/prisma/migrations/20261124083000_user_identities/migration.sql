-- Who a user is to an OpenID provider: its name for them never changes, as an e-mail address may.
CREATE TABLE "user_identity" (
    "issuer" TEXT NOT NULL,
    "subject" TEXT NOT NULL,
    "user_id" UUID NOT NULL,

    CONSTRAINT "user_identity_pkey" PRIMARY KEY ("issuer","subject")
);
CREATE INDEX "user_identity_user_id_idx" ON "user_identity"("user_id");
ALTER TABLE "user_identity" ADD CONSTRAINT "user_identity_user_id_fkey"
  FOREIGN KEY ("user_id") REFERENCES "app_user"("id") ON DELETE CASCADE ON UPDATE CASCADE;
-- Read before there is a caller, so only the system role sees it.
ALTER TABLE "user_identity" ENABLE ROW LEVEL SECURITY;
ALTER TABLE "user_identity" FORCE ROW LEVEL SECURITY;
CREATE POLICY api_isolation ON "user_identity" TO holdfast_api USING (false) WITH CHECK (false);
CREATE POLICY system_access ON "user_identity" TO holdfast_system USING (true) WITH CHECK (true);
GRANT SELECT, INSERT, UPDATE, DELETE ON "user_identity" TO holdfast_system;
