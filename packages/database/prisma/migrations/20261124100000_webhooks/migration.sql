-- Receivers of an organization's events, how far each has read the log, and what was delivered.
CREATE TABLE "webhook" (
    "id" UUID NOT NULL,
    "organization_id" UUID NOT NULL,
    "name" TEXT NOT NULL,
    "url" TEXT NOT NULL,
    "filter" TEXT NOT NULL,
    "is_enabled" BOOLEAN NOT NULL DEFAULT true,
    "disabled_reason" TEXT NOT NULL DEFAULT '',
    "failing_since" TIMESTAMPTZ(3),
    "last_delivered_at" TIMESTAMPTZ(3),
    "transaction_id" BIGINT NOT NULL,
    "event_id" BIGINT NOT NULL,
    "claim" UUID,
    "claimed_until" TIMESTAMPTZ(3),
    "version" INTEGER NOT NULL DEFAULT 1,
    "created_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "webhook_pkey" PRIMARY KEY ("id")
);
CREATE INDEX "webhook_organization_id_idx" ON "webhook"("organization_id");
ALTER TABLE "webhook" ADD CONSTRAINT "webhook_organization_id_fkey"
  FOREIGN KEY ("organization_id") REFERENCES "organization"("id") ON DELETE CASCADE ON UPDATE CASCADE;

CREATE TABLE "webhook_secret" (
    "id" UUID NOT NULL,
    "webhook_id" UUID NOT NULL,
    "organization_id" UUID NOT NULL,
    "secret" TEXT NOT NULL,
    "valid_until" TIMESTAMPTZ(3),
    "created_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "webhook_secret_pkey" PRIMARY KEY ("id")
);
CREATE INDEX "webhook_secret_webhook_id_idx" ON "webhook_secret"("webhook_id");
ALTER TABLE "webhook_secret" ADD CONSTRAINT "webhook_secret_webhook_id_fkey"
  FOREIGN KEY ("webhook_id") REFERENCES "webhook"("id") ON DELETE CASCADE ON UPDATE CASCADE;

CREATE TABLE "webhook_delivery" (
    "id" UUID NOT NULL,
    "organization_id" UUID NOT NULL,
    "webhook_id" UUID NOT NULL,
    "cluster_id" UUID NOT NULL,
    "transaction_id" BIGINT NOT NULL,
    "event_id" BIGINT NOT NULL,
    "type" TEXT NOT NULL,
    "body" TEXT NOT NULL,
    "state" TEXT NOT NULL DEFAULT 'waiting',
    "is_redelivery" BOOLEAN NOT NULL DEFAULT false,
    "attempts" INTEGER NOT NULL DEFAULT 0,
    "next_attempt_at" TIMESTAMPTZ(3) NOT NULL,
    "last_attempt_at" TIMESTAMPTZ(3),
    "last_status" INTEGER,
    "last_error" TEXT NOT NULL DEFAULT '',
    "created_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "webhook_delivery_pkey" PRIMARY KEY ("id")
);
CREATE INDEX "webhook_delivery_webhook_id_state_transaction_id_event_id_idx"
  ON "webhook_delivery"("webhook_id", "state", "transaction_id", "event_id");
CREATE INDEX "webhook_delivery_webhook_id_created_at_id_idx" ON "webhook_delivery"("webhook_id", "created_at", "id");
ALTER TABLE "webhook_delivery" ADD CONSTRAINT "webhook_delivery_webhook_id_fkey"
  FOREIGN KEY ("webhook_id") REFERENCES "webhook"("id") ON DELETE CASCADE ON UPDATE CASCADE;
ALTER TABLE "webhook_delivery" ADD CHECK ("state" IN ('waiting', 'delivered', 'failed'));

-- A webhook reads its organization's events of all clusters, in the order of the log.

DO $$
DECLARE
  isolated text;
BEGIN
  FOREACH isolated IN ARRAY ARRAY['webhook', 'webhook_secret', 'webhook_delivery'] LOOP
    EXECUTE format('ALTER TABLE %I ENABLE ROW LEVEL SECURITY', isolated);
    EXECUTE format('ALTER TABLE %I FORCE ROW LEVEL SECURITY', isolated);
    EXECUTE format(
      'CREATE POLICY api_isolation ON %I TO holdfast_api '
      'USING (organization_id = (SELECT current_organization_id())) '
      'WITH CHECK (organization_id = (SELECT current_organization_id()))', isolated);
    EXECUTE format(
      'CREATE POLICY system_access ON %I TO holdfast_system USING (true) WITH CHECK (true)', isolated);
    -- A webhook is told of all of the organization, so a token for a part of it sees none.
    EXECUTE format(
      'CREATE POLICY token_limits ON %I AS RESTRICTIVE TO holdfast_api '
      'USING ((SELECT current_cluster_ids()) IS NULL AND (SELECT current_project_ids()) IS NULL)', isolated);
    EXECUTE format('GRANT SELECT, INSERT, UPDATE, DELETE ON %I TO holdfast_system', isolated);
  END LOOP;
END
$$;
GRANT SELECT, INSERT, UPDATE, DELETE ON "webhook" TO holdfast_api;
GRANT SELECT, UPDATE, DELETE ON "webhook_delivery" TO holdfast_api;
-- The role that tenants' requests run as stores secrets and never reads one.
GRANT INSERT, DELETE ON "webhook_secret" TO holdfast_api;
GRANT SELECT ("id", "webhook_id", "organization_id", "valid_until", "created_at"), UPDATE ("valid_until")
  ON "webhook_secret" TO holdfast_api;
