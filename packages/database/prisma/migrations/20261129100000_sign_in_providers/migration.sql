-- The OpenID provider of an organization, its client's secret, and the accounts that it vouches for.
CREATE TABLE "sign_in_provider" (
    "organization_id" UUID NOT NULL,
    "issuer" TEXT NOT NULL,
    "client_id" TEXT NOT NULL,
    "domains" TEXT[],
    "default_role" TEXT NOT NULL,
    "version" INTEGER NOT NULL DEFAULT 1,
    "created_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "sign_in_provider_pkey" PRIMARY KEY ("organization_id")
);
ALTER TABLE "sign_in_provider" ADD CONSTRAINT "sign_in_provider_organization_id_fkey"
  FOREIGN KEY ("organization_id") REFERENCES "organization"("id") ON DELETE CASCADE ON UPDATE CASCADE;
-- A provider is chosen by admins, who must not make owners by it.
ALTER TABLE "sign_in_provider" ADD CHECK ("default_role" IN ('member', 'viewer', 'operator', 'admin'));

CREATE TABLE "sign_in_provider_secret" (
    "organization_id" UUID NOT NULL,
    "client_secret" TEXT NOT NULL,
    "cookie_key" TEXT NOT NULL,

    CONSTRAINT "sign_in_provider_secret_pkey" PRIMARY KEY ("organization_id")
);
ALTER TABLE "sign_in_provider_secret" ADD CONSTRAINT "sign_in_provider_secret_organization_id_fkey"
  FOREIGN KEY ("organization_id") REFERENCES "sign_in_provider"("organization_id") ON DELETE CASCADE ON UPDATE CASCADE;

-- The same issuer may serve several organizations: in each of them its users have accounts of their own.
CREATE TABLE "provider_identity" (
    "organization_id" UUID NOT NULL,
    "issuer" TEXT NOT NULL,
    "subject" TEXT NOT NULL,
    "user_id" UUID NOT NULL,

    CONSTRAINT "provider_identity_pkey" PRIMARY KEY ("organization_id", "issuer", "subject")
);
CREATE INDEX "provider_identity_user_id_idx" ON "provider_identity"("user_id");
ALTER TABLE "provider_identity" ADD CONSTRAINT "provider_identity_user_id_fkey"
  FOREIGN KEY ("user_id") REFERENCES "app_user"("id") ON DELETE CASCADE ON UPDATE CASCADE;

DO $$
DECLARE
  isolated text;
BEGIN
  FOREACH isolated IN ARRAY ARRAY['sign_in_provider', 'sign_in_provider_secret', 'provider_identity'] LOOP
    EXECUTE format('ALTER TABLE %I ENABLE ROW LEVEL SECURITY', isolated);
    EXECUTE format('ALTER TABLE %I FORCE ROW LEVEL SECURITY', isolated);
    EXECUTE format(
      'CREATE POLICY api_isolation ON %I TO holdfast_api '
      'USING (organization_id = (SELECT current_organization_id())) '
      'WITH CHECK (organization_id = (SELECT current_organization_id()))', isolated);
    EXECUTE format(
      'CREATE POLICY system_access ON %I TO holdfast_system USING (true) WITH CHECK (true)', isolated);
    -- Who may sign in concerns all of the organization, so a token for a part of it sees and changes nothing here.
    EXECUTE format(
      'CREATE POLICY token_limits ON %I AS RESTRICTIVE TO holdfast_api '
      'USING ((SELECT current_cluster_ids()) IS NULL AND (SELECT current_project_ids()) IS NULL)', isolated);
    EXECUTE format('GRANT SELECT, INSERT, UPDATE, DELETE ON %I TO holdfast_system', isolated);
  END LOOP;
END
$$;
GRANT SELECT, INSERT, UPDATE, DELETE ON "sign_in_provider" TO holdfast_api;
-- The role that tenants' requests run as stores the secret and never reads it.
GRANT SELECT ("organization_id"), INSERT, UPDATE ("client_secret") ON "sign_in_provider_secret" TO holdfast_api;

-- An account that an organization's provider vouches for. Its `email` is of no mailbox, as a service account's is: what the
-- provider calls the user's address is shown, and nothing is looked up by it.
ALTER TABLE "app_user" ADD COLUMN "managed_by" UUID;
ALTER TABLE "app_user" ADD COLUMN "provider_email" TEXT;
CREATE INDEX "app_user_managed_by_idx" ON "app_user"("managed_by");
ALTER TABLE "app_user" ADD CONSTRAINT "app_user_managed_by_fkey" FOREIGN KEY ("managed_by") REFERENCES "organization"("id")
  ON DELETE CASCADE ON UPDATE CASCADE;
ALTER TABLE "app_user" ADD CONSTRAINT "app_user_managed_has_no_password"
  CHECK ("managed_by" IS NULL OR ("password_hash" IS NULL AND "service_of" IS NULL));
ALTER TABLE "app_user" ADD CONSTRAINT "app_user_managed_has_provider_email"
  CHECK (("managed_by" IS NULL) = ("provider_email" IS NULL));
-- An organization removes the accounts of its provider with their membership. They are made at a sign-in, by the system.
CREATE POLICY managed_accounts ON "app_user" FOR DELETE TO holdfast_api
  USING (managed_by = (SELECT current_organization_id()));

-- Whichever way leads to another organization, to the installation's provider or to being an owner, ends here for such an account.
CREATE FUNCTION refuse_managed_account() RETURNS trigger
  LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, public
  AS $$
    BEGIN
      IF EXISTS (SELECT FROM public.app_user u WHERE u.id = NEW.user_id AND u.managed_by IS NOT NULL
        AND (TG_TABLE_NAME <> 'membership' OR to_jsonb(NEW) ->> 'role' = 'owner'
          OR u.managed_by <> (to_jsonb(NEW) ->> 'organization_id')::uuid))
      THEN
        RAISE EXCEPTION 'an account of a provider has no such %', TG_TABLE_NAME USING ERRCODE = 'integrity_constraint_violation';
      END IF;
      RETURN NEW;
    END
  $$;
REVOKE ALL ON FUNCTION refuse_managed_account() FROM PUBLIC;
CREATE TRIGGER managed_accounts_stay BEFORE INSERT OR UPDATE OF "organization_id", "user_id", "role" ON "membership"
  FOR EACH ROW EXECUTE FUNCTION refuse_managed_account();
CREATE TRIGGER managed_accounts_have_one_provider BEFORE INSERT OR UPDATE OF "user_id" ON "user_identity"
  FOR EACH ROW EXECUTE FUNCTION refuse_managed_account();
