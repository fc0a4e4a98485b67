-- Service accounts: users of one organization that own tokens and never sign in.
ALTER TABLE "app_user" ADD COLUMN "service_of" UUID;
ALTER TABLE "app_user" ADD CONSTRAINT "app_user_service_of_fkey" FOREIGN KEY ("service_of") REFERENCES "organization"("id")
  ON DELETE CASCADE ON UPDATE CASCADE;
ALTER TABLE "app_user" ADD CONSTRAINT "app_user_service_has_no_password"
  CHECK ("service_of" IS NULL OR "password_hash" IS NULL);
CREATE UNIQUE INDEX "app_user_service_of_name_key" ON "app_user"("service_of", "name");

-- While it is set the member's tokens let no one in.
ALTER TABLE "membership" ADD COLUMN "disabled_at" TIMESTAMPTZ(3);

-- An organization makes, renames and deletes its own service accounts. Of other users it only sees its members.
CREATE POLICY service_accounts ON "app_user" TO holdfast_api
  USING (service_of = (SELECT current_organization_id())) WITH CHECK (service_of = (SELECT current_organization_id()));
GRANT INSERT, DELETE ON "app_user" TO holdfast_api;
GRANT UPDATE ("name") ON "app_user" TO holdfast_api;

-- Whichever way leads to a session, to a provider's account or to another organization, ends here for a service account.
CREATE FUNCTION refuse_service_account() RETURNS trigger
  LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, public
  AS $$
    BEGIN
      IF EXISTS (SELECT FROM public.app_user u WHERE u.id = NEW.user_id AND u.service_of IS NOT NULL
        AND (TG_ARGV[0] <> 'elsewhere' OR u.service_of <> (to_jsonb(NEW) ->> 'organization_id')::uuid))
      THEN
        RAISE EXCEPTION 'a service account has no %', TG_TABLE_NAME USING ERRCODE = 'integrity_constraint_violation';
      END IF;
      RETURN NEW;
    END
  $$;
REVOKE ALL ON FUNCTION refuse_service_account() FROM PUBLIC;
CREATE TRIGGER service_accounts_sign_in_nowhere BEFORE INSERT OR UPDATE OF "kind", "user_id" ON "token"
  FOR EACH ROW WHEN (NEW.kind = 'session') EXECUTE FUNCTION refuse_service_account('anywhere');
CREATE TRIGGER service_accounts_have_no_provider BEFORE INSERT OR UPDATE OF "user_id" ON "user_identity"
  FOR EACH ROW EXECUTE FUNCTION refuse_service_account('anywhere');
CREATE TRIGGER service_accounts_stay BEFORE INSERT OR UPDATE OF "organization_id", "user_id" ON "membership"
  FOR EACH ROW EXECUTE FUNCTION refuse_service_account('elsewhere');

-- As before, and members that are disabled are let in nowhere.
CREATE OR REPLACE FUNCTION find_token(hash text)
  RETURNS TABLE (
    token_id uuid, kind text, organization_id uuid, user_id uuid, cluster_id uuid, project_id uuid,
    token_role text, member_role text, expires_at timestamptz, read_only boolean, actions text[],
    cluster_ids uuid[], project_ids uuid[], address_ranges text[]
  )
  LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, public
  AS $$
    SELECT t.id, t.kind, t.organization_id, t.user_id, t.cluster_id, t.project_id, t.role, m.role, t.expires_at,
      t.read_only, t.actions, t.cluster_ids, t.project_ids, t.address_ranges
    FROM public.token t
    LEFT JOIN public.membership m ON m.user_id = t.user_id AND m.organization_id = t.organization_id
    WHERE t.secret_hash = hash
      AND (t.expires_at IS NULL OR t.expires_at > now())
      AND (t.kind <> 'session' OR coalesce(t.last_used_at, t.created_at) > now() - interval '24 hours')
      AND (t.kind = 'agent' OR (m.user_id IS NOT NULL AND m.disabled_at IS NULL))
  $$;
CREATE OR REPLACE FUNCTION live_access(ids uuid[])
  RETURNS TABLE (token_id uuid, token_role text, member_role text, project_roles jsonb)
  LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, public
  AS $$
    SELECT t.id, t.role, m.role,
      CASE WHEN m.role IN ('owner', 'admin') THEN '{}' ELSE project_roles_of(t.user_id, t.organization_id) END
    FROM public.token t
    JOIN public.membership m ON m.user_id = t.user_id AND m.organization_id = t.organization_id
    WHERE t.id = ANY (ids) AND (t.expires_at IS NULL OR t.expires_at > now()) AND m.disabled_at IS NULL
  $$;
