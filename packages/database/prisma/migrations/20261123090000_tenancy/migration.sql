-- Roles in single projects, the role `member` that goes with them, invitations, and versions for what users change.
ALTER TABLE "organization" ADD COLUMN "version" INTEGER NOT NULL DEFAULT 1;
ALTER TABLE "membership" ADD COLUMN "version" INTEGER NOT NULL DEFAULT 1;

ALTER TABLE "membership" DROP CONSTRAINT "membership_role_check",
  ADD CONSTRAINT "membership_role_check" CHECK ("role" IN ('owner', 'admin', 'operator', 'viewer', 'member'));
ALTER TABLE "token" DROP CONSTRAINT "token_role_check",
  ADD CONSTRAINT "token_role_check" CHECK ("role" IN ('owner', 'admin', 'operator', 'viewer', 'member', 'agent'));

CREATE TABLE "project_membership" (
    "organization_id" UUID NOT NULL,
    "project_id" UUID NOT NULL,
    "user_id" UUID NOT NULL,
    "role" TEXT NOT NULL,
    "version" INTEGER NOT NULL DEFAULT 1,
    "created_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "project_membership_pkey" PRIMARY KEY ("project_id","user_id")
);
CREATE INDEX "project_membership_organization_id_user_id_idx" ON "project_membership"("organization_id", "user_id");
ALTER TABLE "project_membership" ADD CONSTRAINT "project_membership_project_id_fkey"
  FOREIGN KEY ("project_id") REFERENCES "project"("id") ON DELETE CASCADE ON UPDATE CASCADE;
-- Who leaves the organization leaves its projects.
ALTER TABLE "project_membership" ADD CONSTRAINT "project_membership_organization_id_user_id_fkey"
  FOREIGN KEY ("organization_id", "user_id") REFERENCES "membership"("organization_id", "user_id")
  ON DELETE CASCADE ON UPDATE CASCADE;
ALTER TABLE "project_membership" ADD CHECK ("role" IN ('admin', 'operator', 'viewer'));

CREATE TABLE "invitation" (
    "id" UUID NOT NULL,
    "organization_id" UUID NOT NULL,
    "email" TEXT NOT NULL,
    "role" TEXT NOT NULL,
    "secret_hash" TEXT NOT NULL,
    "invited_by" UUID NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL,
    "expires_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "invitation_pkey" PRIMARY KEY ("id")
);
CREATE UNIQUE INDEX "invitation_secret_hash_key" ON "invitation"("secret_hash");
CREATE UNIQUE INDEX "invitation_organization_id_email_key" ON "invitation"("organization_id", "email");
ALTER TABLE "invitation" ADD CONSTRAINT "invitation_organization_id_fkey"
  FOREIGN KEY ("organization_id") REFERENCES "organization"("id") ON DELETE CASCADE ON UPDATE CASCADE;
ALTER TABLE "invitation" ADD CHECK ("role" IN ('owner', 'admin', 'operator', 'viewer', 'member'));

DO $$
DECLARE
  isolated text;
BEGIN
  FOREACH isolated IN ARRAY ARRAY['project_membership', 'invitation'] LOOP
    EXECUTE format('ALTER TABLE %I ENABLE ROW LEVEL SECURITY', isolated);
    EXECUTE format('ALTER TABLE %I FORCE ROW LEVEL SECURITY', isolated);
    EXECUTE format(
      'CREATE POLICY api_isolation ON %I TO holdfast_api '
      'USING (organization_id = (SELECT current_organization_id())) '
      'WITH CHECK (organization_id = (SELECT current_organization_id()))', isolated);
    EXECUTE format(
      'CREATE POLICY system_access ON %I TO holdfast_system USING (true) WITH CHECK (true)', isolated);
    EXECUTE format('GRANT SELECT, INSERT, UPDATE, DELETE ON %I TO holdfast_api, holdfast_system', isolated);
  END LOOP;
END
$$;
CREATE POLICY token_projects ON "project_membership" AS RESTRICTIVE TO holdfast_api
  USING ((SELECT current_project_ids()) IS NULL OR project_id = ANY ((SELECT current_project_ids())::uuid[]));
GRANT UPDATE ("name", "version") ON "organization" TO holdfast_api;

-- A user's roles by project, asked with each request together with `find_token`.
CREATE POLICY owner_sign_in ON "project_membership" FOR SELECT TO CURRENT_USER USING (true);
CREATE FUNCTION project_roles_of(of_user uuid, of_organization uuid) RETURNS jsonb
  LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, public
  AS $$
    SELECT coalesce(jsonb_object_agg(p.project_id, p.role), '{}') FROM public.project_membership p
    WHERE p.user_id = of_user AND p.organization_id = of_organization
  $$;
REVOKE ALL ON FUNCTION project_roles_of(uuid, uuid) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION project_roles_of(uuid, uuid) TO holdfast_api, holdfast_system;
