-- Labels of volumes, nodes and disks, to find them by; NULL: none.
ALTER TABLE "volume" ADD COLUMN "labels" JSONB;
ALTER TABLE "node" ADD COLUMN "labels" JSONB;
ALTER TABLE "disk" ADD COLUMN "labels" JSONB;

-- The same labels, one a row, for searches. An index on the JSON itself could not be used: under row-level security Postgres asks
-- an index only by operators that leak nothing, which equality of texts is, and those of JSON are not.
CREATE TABLE "object_label" (
    "organization_id" UUID NOT NULL,
    "object_id" UUID NOT NULL,
    "key" TEXT NOT NULL,
    "value" TEXT NOT NULL,

    CONSTRAINT "object_label_pkey" PRIMARY KEY ("object_id", "key")
);
CREATE INDEX "object_label_organization_id_key_value_object_id_idx"
  ON "object_label"("organization_id", "key", "value", "object_id");
ALTER TABLE "object_label" ADD CONSTRAINT "object_label_organization_id_fkey"
  FOREIGN KEY ("organization_id") REFERENCES "organization"("id") ON DELETE CASCADE ON UPDATE CASCADE;
ALTER TABLE "object_label" ENABLE ROW LEVEL SECURITY;
ALTER TABLE "object_label" FORCE ROW LEVEL SECURITY;
CREATE POLICY api_isolation ON "object_label" TO holdfast_api
  USING (organization_id = (SELECT current_organization_id()))
  WITH CHECK (organization_id = (SELECT current_organization_id()));
CREATE POLICY system_access ON "object_label" TO holdfast_system USING (true) WITH CHECK (true);
GRANT SELECT, INSERT, UPDATE, DELETE ON "object_label" TO holdfast_api, holdfast_system;

CREATE FUNCTION keep_object_labels() RETURNS trigger
  LANGUAGE plpgsql
  AS $$
    BEGIN
      IF TG_OP <> 'INSERT' THEN
        DELETE FROM object_label WHERE object_id = OLD.id;
      END IF;
      IF TG_OP <> 'DELETE' AND NEW.labels IS NOT NULL THEN
        INSERT INTO object_label (organization_id, object_id, key, value)
        SELECT NEW.organization_id, NEW.id, l.key, l.value FROM jsonb_each_text(NEW.labels) l;
      END IF;
      RETURN NULL;
    END
  $$;

DO $$
DECLARE
  labelled text;
BEGIN
  FOREACH labelled IN ARRAY ARRAY['volume', 'node', 'disk'] LOOP
    EXECUTE format(
      'CREATE TRIGGER labels_of_new AFTER INSERT ON %I FOR EACH ROW WHEN (NEW.labels IS NOT NULL) '
      'EXECUTE FUNCTION keep_object_labels()', labelled);
    EXECUTE format(
      'CREATE TRIGGER labels_changed AFTER UPDATE OF "labels" ON %I FOR EACH ROW '
      'WHEN (NEW.labels IS DISTINCT FROM OLD.labels) EXECUTE FUNCTION keep_object_labels()', labelled);
    EXECUTE format(
      'CREATE TRIGGER labels_of_gone AFTER DELETE ON %I FOR EACH ROW WHEN (OLD.labels IS NOT NULL) '
      'EXECUTE FUNCTION keep_object_labels()', labelled);
  END LOOP;
END
$$;
