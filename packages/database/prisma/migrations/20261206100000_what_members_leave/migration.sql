-- Who answers for what works on after its request: its maker, or who has changed it last. Null: the installation, or unknown (ADR 0331).
ALTER TABLE "join_token" ADD COLUMN "made_by" UUID;
ALTER TABLE "webhook" ADD COLUMN "made_by" UUID;
ALTER TABLE "cluster_grant" ADD COLUMN "made_by" UUID;
ALTER TABLE "sign_in_provider" ADD COLUMN "made_by" UUID;
GRANT UPDATE ("made_by") ON "cluster_grant" TO holdfast_api;

-- For what is there already the audit log knows.
DO $$
DECLARE
  made text;
BEGIN
  ALTER TABLE "audit_entry" NO FORCE ROW LEVEL SECURITY;
  FOREACH made IN ARRAY ARRAY['join_token', 'webhook', 'cluster_grant'] LOOP
    EXECUTE format('ALTER TABLE %I NO FORCE ROW LEVEL SECURITY', made);
    EXECUTE format($sql$UPDATE %I t SET made_by = a.actor_id::uuid FROM audit_entry a
      WHERE a.detail ->> 'created' = t.id::text AND a.result = 'done' AND a.actor_kind LIKE 'user/%%'
        AND a.actor_id ~ '^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$'$sql$, made);
    EXECUTE format('ALTER TABLE %I FORCE ROW LEVEL SECURITY', made);
  END LOOP;
  ALTER TABLE "sign_in_provider" NO FORCE ROW LEVEL SECURITY;
  UPDATE "sign_in_provider" p SET made_by = (
    SELECT a.actor_id::uuid FROM "audit_entry" a
    WHERE a.organization_id = p.organization_id AND a.target_kind = 'signInProvider' AND a.result = 'done'
      AND a.actor_kind LIKE 'user/%' AND a.actor_id ~ '^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$'
    ORDER BY a.id DESC LIMIT 1);
  ALTER TABLE "sign_in_provider" FORCE ROW LEVEL SECURITY;
  ALTER TABLE "audit_entry" FORCE ROW LEVEL SECURITY;
END
$$;

-- As before, and a session has no role of its own: it allows what its user may at the moment, in the organization and in projects.
CREATE OR REPLACE FUNCTION find_token(hash text)
  RETURNS TABLE (
    token_id uuid, kind text, organization_id uuid, user_id uuid, cluster_id uuid, project_id uuid,
    token_role text, member_role text, expires_at timestamptz, read_only boolean, actions text[],
    cluster_ids uuid[], project_ids uuid[], address_ranges text[]
  )
  LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, public
  AS $$
    SELECT t.id, t.kind, t.organization_id, t.user_id, t.cluster_id, t.project_id,
      CASE WHEN t.kind = 'session' THEN 'owner' ELSE t.role END, m.role, t.expires_at,
      t.read_only, t.actions, t.cluster_ids, t.project_ids, t.address_ranges
    FROM public.token t
    LEFT JOIN public.membership m ON m.user_id = t.user_id AND m.organization_id = t.organization_id
    WHERE t.secret_hash = hash
      AND (t.expires_at IS NULL OR t.expires_at > now())
      AND (t.kind <> 'session' OR coalesce(t.last_used_at, t.created_at) > now() - interval '24 hours')
      AND (t.kind = 'agent' OR (m.user_id IS NOT NULL AND m.disabled_at IS NULL))
  $$;
CREATE OR REPLACE FUNCTION live_secrets(hashes text[])
  RETURNS TABLE (secret_hash text, token_role text, member_role text, project_roles jsonb)
  LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, public
  AS $$
    SELECT t.secret_hash, CASE WHEN t.kind = 'session' THEN 'owner' ELSE t.role END, m.role,
      CASE WHEN m.role IN ('owner', 'admin') THEN '{}' ELSE project_roles_of(t.user_id, t.organization_id) END
    FROM public.token t
    JOIN public.membership m ON m.user_id = t.user_id AND m.organization_id = t.organization_id
    WHERE t.secret_hash = ANY (hashes) AND (t.expires_at IS NULL OR t.expires_at > now()) AND m.disabled_at IS NULL
  $$;
