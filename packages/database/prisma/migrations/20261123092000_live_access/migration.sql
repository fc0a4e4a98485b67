-- Of these tokens those that still let their holders in, with the roles that they have now: asked for streams, which outlive the
-- request that opened them. Takes the place of `live_tokens`, which programs of the version before ask.
CREATE FUNCTION live_access(ids uuid[])
  RETURNS TABLE (token_id uuid, token_role text, member_role text, project_roles jsonb)
  LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, public
  AS $$
    SELECT t.id, t.role, m.role,
      CASE WHEN m.role IN ('owner', 'admin') THEN '{}' ELSE project_roles_of(t.user_id, t.organization_id) END
    FROM public.token t
    JOIN public.membership m ON m.user_id = t.user_id AND m.organization_id = t.organization_id
    WHERE t.id = ANY (ids) AND (t.expires_at IS NULL OR t.expires_at > now())
  $$;
REVOKE ALL ON FUNCTION live_access(uuid[]) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION live_access(uuid[]) TO holdfast_api, holdfast_system;
