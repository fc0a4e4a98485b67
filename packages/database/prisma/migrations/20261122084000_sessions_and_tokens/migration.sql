-- What a token may be used for, and from where; what a session was made from.
ALTER TABLE "token"
  ADD COLUMN "parent_id" UUID,
  ADD COLUMN "read_only" BOOLEAN NOT NULL DEFAULT false,
  ADD COLUMN "actions" TEXT[],
  ADD COLUMN "cluster_ids" UUID[],
  ADD COLUMN "project_ids" UUID[],
  ADD COLUMN "address_ranges" TEXT[],
  ADD COLUMN "made_from" TEXT NOT NULL DEFAULT '';
-- A token that was made with another one ends with it.
ALTER TABLE "token" ADD CONSTRAINT "token_parent_id_fkey" FOREIGN KEY ("parent_id") REFERENCES "token"("id")
  ON DELETE CASCADE ON UPDATE CASCADE;
CREATE INDEX "token_parent_id_idx" ON "token"("parent_id");

-- Failed sign-ins, by hashed account and by address. Counted before there is an organization.
CREATE TABLE "sign_in_limit" (
  "key" VARCHAR(255) NOT NULL,
  "points" INTEGER NOT NULL DEFAULT 0,
  "expire" BIGINT,
  CONSTRAINT "sign_in_limit_pkey" PRIMARY KEY ("key")
);
ALTER TABLE "sign_in_limit" ENABLE ROW LEVEL SECURITY;
ALTER TABLE "sign_in_limit" FORCE ROW LEVEL SECURITY;
CREATE POLICY api_isolation ON "sign_in_limit" TO holdfast_api USING (true) WITH CHECK (true);
CREATE POLICY system_access ON "sign_in_limit" TO holdfast_system USING (true) WITH CHECK (true);
GRANT SELECT, INSERT, UPDATE, DELETE ON "sign_in_limit" TO holdfast_api, holdfast_system;

-- The clusters and projects that a token is limited to, as the transaction has set them; NULL: all of the organization's.
CREATE FUNCTION current_cluster_ids() RETURNS uuid[]
  LANGUAGE sql STABLE PARALLEL SAFE
  RETURN nullif(current_setting('holdfast.cluster_ids', true), '')::uuid[];
CREATE FUNCTION current_project_ids() RETURNS uuid[]
  LANGUAGE sql STABLE PARALLEL SAFE
  RETURN nullif(current_setting('holdfast.project_ids', true), '')::uuid[];

-- A second policy, which has to hold as well as the one on the organization.
DO $$
DECLARE
  limited text;
BEGIN
  FOREACH limited IN ARRAY ARRAY['node', 'disk', 'volume', 'rebuild', 'setting', 'event', 'orphan'] LOOP
    EXECUTE format(
      'CREATE POLICY token_clusters ON %I AS RESTRICTIVE TO holdfast_api '
      'USING ((SELECT current_cluster_ids()) IS NULL OR cluster_id = ANY ((SELECT current_cluster_ids())::uuid[]))',
      limited);
  END LOOP;
  FOREACH limited IN ARRAY ARRAY['rebuild', 'event'] LOOP
    EXECUTE format(
      'CREATE POLICY token_projects ON %I AS RESTRICTIVE TO holdfast_api '
      'USING ((SELECT current_project_ids()) IS NULL OR volume_id IN (SELECT v.id FROM "volume" v))', limited);
  END LOOP;
END
$$;
CREATE POLICY token_clusters ON "cluster" AS RESTRICTIVE TO holdfast_api
  USING ((SELECT current_cluster_ids()) IS NULL OR id = ANY ((SELECT current_cluster_ids())::uuid[]));
CREATE POLICY token_projects ON "volume" AS RESTRICTIVE TO holdfast_api
  USING ((SELECT current_project_ids()) IS NULL OR project_id = ANY ((SELECT current_project_ids())::uuid[]));
CREATE POLICY token_projects ON "project" AS RESTRICTIVE TO holdfast_api
  USING ((SELECT current_project_ids()) IS NULL OR id = ANY ((SELECT current_project_ids())::uuid[]));

DROP FUNCTION find_token(text);
-- The one way from a secret to its holder. A session that was not used for a day is over.
CREATE FUNCTION find_token(hash text)
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
      AND (t.kind = 'agent' OR m.user_id IS NOT NULL)
  $$;
REVOKE ALL ON FUNCTION find_token(text) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION find_token(text) TO holdfast_api, holdfast_system;

-- Which of these tokens still let their holders in: asked for streams, which outlive the request that opened them.
CREATE FUNCTION live_tokens(ids uuid[])
  RETURNS TABLE (token_id uuid)
  LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, public
  AS $$
    SELECT t.id FROM public.token t
    JOIN public.membership m ON m.user_id = t.user_id AND m.organization_id = t.organization_id
    WHERE t.id = ANY (ids) AND (t.expires_at IS NULL OR t.expires_at > now())
  $$;
REVOKE ALL ON FUNCTION live_tokens(uuid[]) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION live_tokens(uuid[]) TO holdfast_api, holdfast_system;
