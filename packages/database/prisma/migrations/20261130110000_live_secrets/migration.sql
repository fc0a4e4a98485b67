-- Of these secrets those that still let their holders in, with the roles that they have now: asked for streams, which outlive the
-- request that opened them. By the secret's hash and not by the token's id, so that a secret that was replaced is none any more. Takes
-- the place of `live_access`, which programs of the version before ask.
CREATE FUNCTION live_secrets(hashes text[])
  RETURNS TABLE (secret_hash text, token_role text, member_role text, project_roles jsonb)
  LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, public
  AS $$
    SELECT t.secret_hash, t.role, m.role,
      CASE WHEN m.role IN ('owner', 'admin') THEN '{}' ELSE project_roles_of(t.user_id, t.organization_id) END
    FROM public.token t
    JOIN public.membership m ON m.user_id = t.user_id AND m.organization_id = t.organization_id
    WHERE t.secret_hash = ANY (hashes) AND (t.expires_at IS NULL OR t.expires_at > now()) AND m.disabled_at IS NULL
  $$;
REVOKE ALL ON FUNCTION live_secrets(text[]) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION live_secrets(text[]) TO holdfast_api, holdfast_system;
