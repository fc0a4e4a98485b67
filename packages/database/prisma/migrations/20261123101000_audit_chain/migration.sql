-- What an entry tells of its request, and of what it changed.
ALTER TABLE "audit_entry"
  ADD COLUMN "address" TEXT NOT NULL DEFAULT '',
  ADD COLUMN "trace_id" TEXT NOT NULL DEFAULT '',
  ADD COLUMN "result" TEXT NOT NULL DEFAULT 'done',
  ADD COLUMN "reason" TEXT NOT NULL DEFAULT '',
  ADD COLUMN "before" JSONB,
  ADD COLUMN "after" JSONB,
  ADD CHECK ("result" IN ('done', 'refused'));

-- The chain of an organization's entries: each link's hash is over its entry and the hash before it.
CREATE TABLE "audit_link" (
  "organization_id" UUID NOT NULL,
  "sequence" BIGINT NOT NULL,
  "entry_id" BIGINT NOT NULL,
  "hash" TEXT NOT NULL,
  CONSTRAINT "audit_link_pkey" PRIMARY KEY ("organization_id", "sequence")
);
CREATE UNIQUE INDEX "audit_link_entry_id_key" ON "audit_link"("entry_id");

-- Where the chain begins after its oldest links were pruned: the last one of those.
CREATE TABLE "audit_anchor" (
  "organization_id" UUID NOT NULL,
  "sequence" BIGINT NOT NULL,
  "hash" TEXT NOT NULL,
  "at" TIMESTAMPTZ(3) NOT NULL,
  CONSTRAINT "audit_anchor_pkey" PRIMARY KEY ("organization_id")
);

-- Entries that are not in the chain yet.
CREATE TABLE "audit_unsealed" (
  "entry_id" BIGINT NOT NULL,
  "organization_id" UUID NOT NULL,
  CONSTRAINT "audit_unsealed_pkey" PRIMARY KEY ("organization_id", "entry_id")
);

DO $$
DECLARE
  audited text;
BEGIN
  FOREACH audited IN ARRAY ARRAY['audit_link', 'audit_anchor', 'audit_unsealed'] LOOP
    EXECUTE format('ALTER TABLE %I ENABLE ROW LEVEL SECURITY', audited);
    EXECUTE format('ALTER TABLE %I FORCE ROW LEVEL SECURITY', audited);
    EXECUTE format(
      'CREATE POLICY api_isolation ON %I TO holdfast_api '
      'USING (organization_id = (SELECT current_organization_id())) '
      'WITH CHECK (organization_id = (SELECT current_organization_id()))', audited);
    EXECUTE format(
      'CREATE POLICY system_access ON %I TO holdfast_system USING (true) WITH CHECK (true)', audited);
  END LOOP;
  -- The functions below run as the owner, whom FORCE holds to the policies too.
  FOREACH audited IN ARRAY ARRAY['audit_entry', 'audit_link', 'audit_anchor', 'audit_unsealed'] LOOP
    EXECUTE format('CREATE POLICY owner_audit ON %I TO CURRENT_USER USING (true) WITH CHECK (true)', audited);
  END LOOP;
END
$$;

-- The log only grows: neither role may change or delete an entry or a link.
REVOKE DELETE ON "audit_entry" FROM holdfast_system;
GRANT SELECT ON "audit_link", "audit_anchor", "audit_unsealed" TO holdfast_api, holdfast_system;
GRANT INSERT ON "audit_link" TO holdfast_system;
GRANT DELETE ON "audit_unsealed" TO holdfast_system;

CREATE FUNCTION note_unsealed() RETURNS trigger
  LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, public
  AS $$
    BEGIN
      INSERT INTO public.audit_unsealed (entry_id, organization_id) SELECT id, organization_id FROM added;
      RETURN NULL;
    END
  $$;
REVOKE ALL ON FUNCTION note_unsealed() FROM PUBLIC;
CREATE TRIGGER note_unsealed AFTER INSERT ON "audit_entry"
  REFERENCING NEW TABLE AS added FOR EACH STATEMENT EXECUTE FUNCTION note_unsealed();

-- Holds whoever has the right as well, such as the tables' owner.
CREATE FUNCTION refuse_audit_change() RETURNS trigger
  LANGUAGE plpgsql
  AS $$
    BEGIN
      IF TG_OP = 'DELETE' AND current_setting('holdfast.audit_pruning', true) = 'on' THEN RETURN OLD; END IF;
      RAISE EXCEPTION 'the audit log only grows' USING ERRCODE = 'insufficient_privilege';
    END
  $$;
CREATE TRIGGER only_grows BEFORE UPDATE OR DELETE ON "audit_entry"
  FOR EACH ROW EXECUTE FUNCTION refuse_audit_change();
CREATE TRIGGER only_grows BEFORE UPDATE OR DELETE ON "audit_link"
  FOR EACH ROW EXECUTE FUNCTION refuse_audit_change();

-- Deletes the oldest links whose entries are all older, at most so many, and keeps the last one's hash as the anchor. It stops
-- at an entry that is missing, so that what was tampered with stays to be seen.
CREATE FUNCTION prune_audit(organization uuid, older_than timestamptz, most integer) RETURNS integer
  LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, public SET holdfast.audit_pruning = 'on'
  AS $$
    DECLARE
      last_sequence bigint;
      last_hash text;
      pruned integer;
    BEGIN
      -- An hour less than a day: clocks differ.
      IF older_than > now() - interval '23 hours' THEN
        RAISE EXCEPTION 'the audit log of the last day is kept' USING ERRCODE = 'insufficient_privilege';
      END IF;
      WITH oldest AS (
        SELECT l.sequence, l.hash, coalesce(e.at, 'infinity') AS at
        FROM public.audit_link l LEFT JOIN public.audit_entry e ON e.id = l.entry_id
        WHERE l.organization_id = organization ORDER BY l.sequence LIMIT most
      )
      SELECT o.sequence, o.hash INTO last_sequence, last_hash FROM oldest o
      WHERE o.sequence < coalesce((SELECT min(k.sequence) FROM oldest k WHERE k.at >= older_than), 9223372036854775807)
      ORDER BY o.sequence DESC LIMIT 1;
      IF last_sequence IS NULL THEN RETURN 0; END IF;
      DELETE FROM public.audit_entry e USING public.audit_link l
      WHERE l.organization_id = organization AND l.sequence <= last_sequence AND e.id = l.entry_id;
      GET DIAGNOSTICS pruned = ROW_COUNT;
      DELETE FROM public.audit_link l WHERE l.organization_id = organization AND l.sequence <= last_sequence;
      INSERT INTO public.audit_anchor (organization_id, sequence, hash, at)
      VALUES (organization, last_sequence, last_hash, now())
      ON CONFLICT (organization_id) DO UPDATE SET sequence = excluded.sequence, hash = excluded.hash, at = excluded.at;
      RETURN pruned;
    END
  $$;
REVOKE ALL ON FUNCTION prune_audit(uuid, timestamptz, integer) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION prune_audit(uuid, timestamptz, integer) TO holdfast_system;

INSERT INTO "audit_unsealed" (entry_id, organization_id) SELECT id, organization_id FROM "audit_entry";
