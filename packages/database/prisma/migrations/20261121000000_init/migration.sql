-- Roles. They belong to the whole server, so another database of ours may have made them already, even at this moment.
-- They get their passwords, and the right to log in, outside of migrations (src/roles.ts).
DO $$
BEGIN
  IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = 'holdfast_api') THEN
    CREATE ROLE holdfast_api NOLOGIN NOSUPERUSER NOCREATEDB NOCREATEROLE NOBYPASSRLS;
  END IF;
  IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = 'holdfast_system') THEN
    CREATE ROLE holdfast_system NOLOGIN NOSUPERUSER NOCREATEDB NOCREATEROLE NOBYPASSRLS;
  END IF;
EXCEPTION
  WHEN duplicate_object OR unique_violation THEN NULL;
END
$$;

-- CreateTable
CREATE TABLE "organization" (
    "id" UUID NOT NULL,
    "name" TEXT NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "organization_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "app_user" (
    "id" UUID NOT NULL,
    "email" TEXT NOT NULL,
    "name" TEXT NOT NULL,
    "password_hash" TEXT,
    "created_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "app_user_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "membership" (
    "organization_id" UUID NOT NULL,
    "user_id" UUID NOT NULL,
    "role" TEXT NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "membership_pkey" PRIMARY KEY ("organization_id","user_id")
);

-- CreateTable
CREATE TABLE "project" (
    "id" UUID NOT NULL,
    "organization_id" UUID NOT NULL,
    "name" TEXT NOT NULL,
    "version" INTEGER NOT NULL DEFAULT 1,
    "created_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "project_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "token" (
    "id" UUID NOT NULL,
    "organization_id" UUID NOT NULL,
    "kind" TEXT NOT NULL,
    "name" TEXT NOT NULL,
    "secret_hash" TEXT NOT NULL,
    "role" TEXT NOT NULL,
    "user_id" UUID,
    "cluster_id" UUID,
    "project_id" UUID,
    "expires_at" TIMESTAMPTZ(3),
    "last_used_at" TIMESTAMPTZ(3),
    "created_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "token_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "cluster" (
    "id" UUID NOT NULL,
    "organization_id" UUID NOT NULL,
    "name" TEXT NOT NULL,
    "settings_version" INTEGER NOT NULL DEFAULT 1,
    "rebuild_queue_version" INTEGER NOT NULL DEFAULT 1,
    "version" INTEGER NOT NULL DEFAULT 1,
    "created_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "cluster_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "node" (
    "id" UUID NOT NULL,
    "organization_id" UUID NOT NULL,
    "cluster_id" UUID NOT NULL,
    "name" TEXT NOT NULL,
    "zone" TEXT,
    "region" TEXT,
    "reported_zone" TEXT,
    "reported_region" TEXT,
    "tags" TEXT[] DEFAULT ARRAY[]::TEXT[],
    "allow_scheduling" BOOLEAN NOT NULL DEFAULT true,
    "cordoned" BOOLEAN NOT NULL DEFAULT false,
    "eviction_requested" BOOLEAN NOT NULL DEFAULT false,
    "conditions" JSONB NOT NULL DEFAULT '[]',
    "control_url" TEXT,
    "control_secret" TEXT,
    "nbd_host" TEXT,
    "nbd_port" INTEGER,
    "boot_id" UUID,
    "pid" INTEGER,
    "agent_version" TEXT,
    "last_heartbeat_at" TIMESTAMPTZ(3),
    "version" INTEGER NOT NULL DEFAULT 1,
    "created_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "node_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "disk" (
    "id" UUID NOT NULL,
    "organization_id" UUID NOT NULL,
    "cluster_id" UUID NOT NULL,
    "node_id" UUID NOT NULL,
    "name" TEXT NOT NULL,
    "path" TEXT NOT NULL,
    "type" TEXT NOT NULL,
    "file_system" TEXT NOT NULL DEFAULT '',
    "tags" TEXT[] DEFAULT ARRAY[]::TEXT[],
    "allow_scheduling" BOOLEAN NOT NULL DEFAULT true,
    "eviction_requested" BOOLEAN NOT NULL DEFAULT false,
    "storage_reserved_bytes" BIGINT NOT NULL DEFAULT 0,
    "storage_maximum_bytes" BIGINT NOT NULL,
    "storage_available_bytes" BIGINT NOT NULL,
    "storage_scheduled_bytes" BIGINT NOT NULL DEFAULT 0,
    "written_bytes" BIGINT NOT NULL DEFAULT 0,
    "conditions" JSONB NOT NULL DEFAULT '[]',
    "version" INTEGER NOT NULL DEFAULT 1,
    "created_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "disk_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "volume" (
    "id" UUID NOT NULL,
    "organization_id" UUID NOT NULL,
    "project_id" UUID NOT NULL,
    "cluster_id" UUID NOT NULL,
    "name" TEXT NOT NULL,
    "size_bytes" BIGINT NOT NULL,
    "number_of_replicas" INTEGER NOT NULL,
    "data_engine" TEXT NOT NULL,
    "node_selector" TEXT[] DEFAULT ARRAY[]::TEXT[],
    "disk_selector" TEXT[] DEFAULT ARRAY[]::TEXT[],
    "data_locality" TEXT NOT NULL,
    "replica_soft_anti_affinity" TEXT NOT NULL,
    "replica_zone_soft_anti_affinity" TEXT NOT NULL,
    "replica_disk_soft_anti_affinity" TEXT NOT NULL,
    "replica_auto_balance" TEXT NOT NULL,
    "generation" INTEGER NOT NULL DEFAULT 1,
    "observed_generation" INTEGER NOT NULL DEFAULT 0,
    "state" TEXT NOT NULL,
    "robustness" TEXT NOT NULL,
    "attachment" JSONB,
    "detach_forced" BOOLEAN NOT NULL DEFAULT false,
    "attached_node_id" UUID,
    "epoch" BIGINT NOT NULL DEFAULT 0,
    "engine_boot_id" UUID,
    "endpoint" JSONB,
    "attachment_secret" TEXT,
    "record" JSONB,
    "last_degraded_at" TIMESTAMPTZ(3),
    "attention" JSONB,
    "conditions" JSONB NOT NULL DEFAULT '[]',
    "written_bytes" BIGINT NOT NULL DEFAULT 0,
    "verification" JSONB,
    "deletion_requested_at" TIMESTAMPTZ(3),
    "created_at" TIMESTAMPTZ(3) NOT NULL,
    "version" INTEGER NOT NULL DEFAULT 1,

    CONSTRAINT "volume_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "replica" (
    "id" UUID NOT NULL,
    "organization_id" UUID NOT NULL,
    "volume_id" UUID NOT NULL,
    "node_id" UUID,
    "disk_id" UUID,
    "size_bytes" BIGINT NOT NULL,
    "intent" TEXT NOT NULL,
    "mode" TEXT,
    "provisioned" BOOLEAN NOT NULL DEFAULT false,
    "healthy_at" TIMESTAMPTZ(3),
    "last_healthy_at" TIMESTAMPTZ(3),
    "failed_at" TIMESTAMPTZ(3),
    "last_failed_at" TIMESTAMPTZ(3),
    "failure" JSONB,
    "rebuild_retry_count" INTEGER NOT NULL DEFAULT 0,
    "written_bytes" BIGINT NOT NULL DEFAULT 0,
    "secret" TEXT NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL,
    "version" INTEGER NOT NULL DEFAULT 1,

    CONSTRAINT "replica_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "snapshot" (
    "id" UUID NOT NULL,
    "organization_id" UUID NOT NULL,
    "volume_id" UUID NOT NULL,
    "name" TEXT NOT NULL,
    "origin" TEXT NOT NULL,
    "parent_id" UUID,
    "created_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "snapshot_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "rebuild" (
    "id" UUID NOT NULL,
    "organization_id" UUID NOT NULL,
    "cluster_id" UUID NOT NULL,
    "volume_id" UUID NOT NULL,
    "target_replica_id" UUID NOT NULL,
    "target_node_id" UUID NOT NULL,
    "source_replica_ids" UUID[] DEFAULT ARRAY[]::UUID[],
    "source_node_ids" UUID[] DEFAULT ARRAY[]::UUID[],
    "state" TEXT NOT NULL,
    "phase" TEXT NOT NULL,
    "healthy_copies" INTEGER NOT NULL,
    "size_bytes" BIGINT NOT NULL,
    "waiting_for" TEXT NOT NULL DEFAULT '',
    "epoch" BIGINT,
    "bytes" JSONB NOT NULL,
    "percent" DOUBLE PRECISION NOT NULL DEFAULT 0,
    "rate_bytes_per_second" BIGINT NOT NULL DEFAULT 0,
    "snapshots" JSONB NOT NULL DEFAULT '[]',
    "attempts" INTEGER NOT NULL DEFAULT 0,
    "error" JSONB,
    "queued_at" TIMESTAMPTZ(3) NOT NULL,
    "started_at" TIMESTAMPTZ(3),
    "finished_at" TIMESTAMPTZ(3),
    "version" INTEGER NOT NULL DEFAULT 1,

    CONSTRAINT "rebuild_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "setting" (
    "cluster_id" UUID NOT NULL,
    "name" TEXT NOT NULL,
    "organization_id" UUID NOT NULL,
    "value" JSONB NOT NULL,
    "updated_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "setting_pkey" PRIMARY KEY ("cluster_id","name")
);

-- CreateTable
CREATE TABLE "engine_observation" (
    "volume_id" UUID NOT NULL,
    "node_id" UUID NOT NULL,
    "organization_id" UUID NOT NULL,
    "cluster_id" UUID NOT NULL,
    "boot_id" UUID NOT NULL,
    "epoch" BIGINT NOT NULL,
    "observed_at" TIMESTAMPTZ(3) NOT NULL,
    "signature" TEXT NOT NULL,
    "report" JSONB NOT NULL,

    CONSTRAINT "engine_observation_pkey" PRIMARY KEY ("volume_id","node_id")
);

-- CreateTable
CREATE TABLE "event" (
    "id" BIGSERIAL NOT NULL,
    "organization_id" UUID NOT NULL,
    "cluster_id" UUID NOT NULL,
    "transaction_id" BIGINT NOT NULL,
    "type" TEXT NOT NULL,
    "severity" TEXT NOT NULL,
    "subject_kind" TEXT NOT NULL,
    "subject_id" TEXT NOT NULL,
    "volume_id" UUID,
    "message" TEXT NOT NULL,
    "at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "event_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "outbox" (
    "id" BIGSERIAL NOT NULL,
    "organization_id" UUID NOT NULL,
    "kind" TEXT NOT NULL,
    "target_id" UUID NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "outbox_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "idempotency_key" (
    "organization_id" UUID NOT NULL,
    "token_id" UUID NOT NULL,
    "key" TEXT NOT NULL,
    "request_hash" TEXT NOT NULL,
    "resource_id" UUID NOT NULL,
    "locked_until" TIMESTAMPTZ(3) NOT NULL,
    "status" INTEGER,
    "body" JSONB,
    "created_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "idempotency_key_pkey" PRIMARY KEY ("organization_id","token_id","key")
);

-- CreateTable
CREATE TABLE "audit_entry" (
    "id" BIGSERIAL NOT NULL,
    "organization_id" UUID NOT NULL,
    "actor_kind" TEXT NOT NULL,
    "actor_id" TEXT NOT NULL,
    "action" TEXT NOT NULL,
    "target_kind" TEXT NOT NULL,
    "target_id" TEXT NOT NULL,
    "request_id" TEXT NOT NULL,
    "detail" JSONB NOT NULL DEFAULT '{}',
    "at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "audit_entry_pkey" PRIMARY KEY ("id")
);

-- CreateIndex
CREATE UNIQUE INDEX "organization_name_key" ON "organization"("name");

-- CreateIndex
CREATE UNIQUE INDEX "app_user_email_key" ON "app_user"("email");

-- CreateIndex
CREATE INDEX "membership_user_id_idx" ON "membership"("user_id");

-- CreateIndex
CREATE UNIQUE INDEX "project_organization_id_name_key" ON "project"("organization_id", "name");

-- CreateIndex
CREATE UNIQUE INDEX "token_secret_hash_key" ON "token"("secret_hash");

-- CreateIndex
CREATE INDEX "token_organization_id_id_idx" ON "token"("organization_id", "id");

-- CreateIndex
CREATE UNIQUE INDEX "cluster_organization_id_name_key" ON "cluster"("organization_id", "name");

-- CreateIndex
CREATE UNIQUE INDEX "node_cluster_id_name_key" ON "node"("cluster_id", "name");

-- CreateIndex
CREATE INDEX "disk_cluster_id_id_idx" ON "disk"("cluster_id", "id");

-- CreateIndex
CREATE INDEX "disk_node_id_idx" ON "disk"("node_id");

-- CreateIndex
CREATE INDEX "volume_cluster_id_id_idx" ON "volume"("cluster_id", "id");

-- CreateIndex
CREATE INDEX "volume_attached_node_id_idx" ON "volume"("attached_node_id");

-- CreateIndex
CREATE UNIQUE INDEX "volume_project_id_name_key" ON "volume"("project_id", "name");

-- CreateIndex
CREATE INDEX "replica_volume_id_idx" ON "replica"("volume_id");

-- CreateIndex
CREATE INDEX "replica_node_id_idx" ON "replica"("node_id");

-- CreateIndex
CREATE INDEX "replica_disk_id_idx" ON "replica"("disk_id");

-- CreateIndex
CREATE UNIQUE INDEX "snapshot_volume_id_name_key" ON "snapshot"("volume_id", "name");

-- CreateIndex
CREATE INDEX "rebuild_cluster_id_state_queued_at_idx" ON "rebuild"("cluster_id", "state", "queued_at");

-- CreateIndex
CREATE INDEX "rebuild_volume_id_queued_at_idx" ON "rebuild"("volume_id", "queued_at");

-- CreateIndex
CREATE INDEX "engine_observation_node_id_idx" ON "engine_observation"("node_id");

-- CreateIndex
CREATE INDEX "event_cluster_id_transaction_id_id_idx" ON "event"("cluster_id", "transaction_id", "id");

-- CreateIndex
CREATE INDEX "event_volume_id_id_idx" ON "event"("volume_id", "id");

-- CreateIndex
CREATE INDEX "idempotency_key_created_at_idx" ON "idempotency_key"("created_at");

-- CreateIndex
CREATE INDEX "audit_entry_organization_id_id_idx" ON "audit_entry"("organization_id", "id");

-- AddForeignKey
ALTER TABLE "membership" ADD CONSTRAINT "membership_organization_id_fkey" FOREIGN KEY ("organization_id") REFERENCES "organization"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "membership" ADD CONSTRAINT "membership_user_id_fkey" FOREIGN KEY ("user_id") REFERENCES "app_user"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "project" ADD CONSTRAINT "project_organization_id_fkey" FOREIGN KEY ("organization_id") REFERENCES "organization"("id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "token" ADD CONSTRAINT "token_organization_id_fkey" FOREIGN KEY ("organization_id") REFERENCES "organization"("id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "token" ADD CONSTRAINT "token_user_id_fkey" FOREIGN KEY ("user_id") REFERENCES "app_user"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "token" ADD CONSTRAINT "token_cluster_id_fkey" FOREIGN KEY ("cluster_id") REFERENCES "cluster"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "token" ADD CONSTRAINT "token_project_id_fkey" FOREIGN KEY ("project_id") REFERENCES "project"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "cluster" ADD CONSTRAINT "cluster_organization_id_fkey" FOREIGN KEY ("organization_id") REFERENCES "organization"("id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "node" ADD CONSTRAINT "node_cluster_id_fkey" FOREIGN KEY ("cluster_id") REFERENCES "cluster"("id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "disk" ADD CONSTRAINT "disk_node_id_fkey" FOREIGN KEY ("node_id") REFERENCES "node"("id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "volume" ADD CONSTRAINT "volume_project_id_fkey" FOREIGN KEY ("project_id") REFERENCES "project"("id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "volume" ADD CONSTRAINT "volume_cluster_id_fkey" FOREIGN KEY ("cluster_id") REFERENCES "cluster"("id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "replica" ADD CONSTRAINT "replica_volume_id_fkey" FOREIGN KEY ("volume_id") REFERENCES "volume"("id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "replica" ADD CONSTRAINT "replica_node_id_fkey" FOREIGN KEY ("node_id") REFERENCES "node"("id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "replica" ADD CONSTRAINT "replica_disk_id_fkey" FOREIGN KEY ("disk_id") REFERENCES "disk"("id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "snapshot" ADD CONSTRAINT "snapshot_volume_id_fkey" FOREIGN KEY ("volume_id") REFERENCES "volume"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "rebuild" ADD CONSTRAINT "rebuild_cluster_id_fkey" FOREIGN KEY ("cluster_id") REFERENCES "cluster"("id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "rebuild" ADD CONSTRAINT "rebuild_volume_id_fkey" FOREIGN KEY ("volume_id") REFERENCES "volume"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "setting" ADD CONSTRAINT "setting_cluster_id_fkey" FOREIGN KEY ("cluster_id") REFERENCES "cluster"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "engine_observation" ADD CONSTRAINT "engine_observation_volume_id_fkey" FOREIGN KEY ("volume_id") REFERENCES "volume"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "engine_observation" ADD CONSTRAINT "engine_observation_node_id_fkey" FOREIGN KEY ("node_id") REFERENCES "node"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "engine_observation" ADD CONSTRAINT "engine_observation_cluster_id_fkey" FOREIGN KEY ("cluster_id") REFERENCES "cluster"("id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "event" ADD CONSTRAINT "event_cluster_id_fkey" FOREIGN KEY ("cluster_id") REFERENCES "cluster"("id") ON DELETE CASCADE ON UPDATE CASCADE;



-- Values that no program may store, whatever its version. Prisma does not look at CHECK constraints.
ALTER TABLE "membership" ADD CHECK ("role" IN ('owner', 'admin', 'operator', 'viewer'));
ALTER TABLE "token" ADD CHECK ("kind" IN ('session', 'api', 'agent')),
  ADD CHECK ("role" IN ('owner', 'admin', 'operator', 'viewer', 'agent')),
  ADD CHECK (("kind" = 'agent') = ("role" = 'agent')),
  ADD CHECK ("kind" <> 'agent' OR "cluster_id" IS NOT NULL),
  ADD CHECK ("kind" = 'agent' OR "user_id" IS NOT NULL);
ALTER TABLE "disk" ADD CHECK ("type" IN ('filesystem', 'block')),
  ADD CHECK ("storage_reserved_bytes" BETWEEN 0 AND 9007199254740991),
  ADD CHECK ("storage_maximum_bytes" BETWEEN 0 AND 9007199254740991),
  ADD CHECK ("storage_available_bytes" BETWEEN 0 AND 9007199254740991),
  ADD CHECK ("storage_scheduled_bytes" BETWEEN 0 AND 9007199254740991),
  ADD CHECK ("written_bytes" BETWEEN 0 AND 9007199254740991);
ALTER TABLE "volume" ADD CHECK ("size_bytes" BETWEEN 4096 AND 9007199254740991 AND "size_bytes" % 4096 = 0),
  ADD CHECK ("number_of_replicas" BETWEEN 1 AND 20),
  ADD CHECK ("data_engine" IN ('v1', 'v2')),
  ADD CHECK ("state" IN ('creating', 'detached', 'attaching', 'attached', 'detaching', 'deleting')),
  ADD CHECK ("robustness" IN ('healthy', 'degraded', 'faulted', 'unknown')),
  ADD CHECK ("epoch" BETWEEN 0 AND 9007199254740991);
ALTER TABLE "replica" ADD CHECK ("size_bytes" BETWEEN 0 AND 9007199254740991),
  ADD CHECK ("intent" IN ('keep', 'evict', 'remove')),
  ADD CHECK ("mode" IN ('RW', 'WO', 'ERR')),
  ADD CHECK (("node_id" IS NULL) = ("disk_id" IS NULL));
ALTER TABLE "snapshot" ADD CHECK ("origin" IN ('user', 'system'));
ALTER TABLE "rebuild" ADD CHECK ("state" IN ('queued', 'running', 'succeeded', 'failed', 'cancelled')),
  ADD CHECK ("percent" BETWEEN 0 AND 100);
ALTER TABLE "event" ADD CHECK ("severity" IN ('info', 'warning', 'error'));
ALTER TABLE "outbox" ADD CHECK ("kind" IN ('volume', 'cluster'));

-- Rebuilds that wait or run are asked for all the time; finished ones are most of the table.
CREATE INDEX "rebuild_active_idx" ON "rebuild" ("cluster_id", "queued_at") WHERE "state" IN ('queued', 'running');

-- The organization of the current transaction, as `set_config` has set it. Unset: no row is visible.
CREATE FUNCTION current_organization_id() RETURNS uuid
  LANGUAGE sql STABLE PARALLEL SAFE
  RETURN nullif(current_setting('holdfast.organization_id', true), '')::uuid;

-- Isolation. FORCE holds even the tables' owner to the policies. The api role sees the current organization; the system
-- role sees all, because limits and space belong to whole clusters.
DO $$
DECLARE
  isolated text;
BEGIN
  FOREACH isolated IN ARRAY ARRAY[
    'membership', 'project', 'token', 'cluster', 'node', 'disk', 'volume', 'replica', 'snapshot', 'rebuild', 'setting',
    'engine_observation', 'event', 'outbox', 'idempotency_key', 'audit_entry'
  ] LOOP
    EXECUTE format('ALTER TABLE %I ENABLE ROW LEVEL SECURITY', isolated);
    EXECUTE format('ALTER TABLE %I FORCE ROW LEVEL SECURITY', isolated);
    EXECUTE format(
      'CREATE POLICY api_isolation ON %I TO holdfast_api '
      'USING (organization_id = (SELECT current_organization_id())) '
      'WITH CHECK (organization_id = (SELECT current_organization_id()))', isolated);
    EXECUTE format(
      'CREATE POLICY system_access ON %I TO holdfast_system USING (true) WITH CHECK (true)', isolated);
  END LOOP;
END
$$;

ALTER TABLE "organization" ENABLE ROW LEVEL SECURITY;
ALTER TABLE "organization" FORCE ROW LEVEL SECURITY;
CREATE POLICY api_isolation ON "organization" TO holdfast_api
  USING (id = (SELECT current_organization_id())) WITH CHECK (id = (SELECT current_organization_id()));
CREATE POLICY system_access ON "organization" TO holdfast_system USING (true) WITH CHECK (true);

-- A person has no organization of their own: they are visible where they are a member.
ALTER TABLE "app_user" ENABLE ROW LEVEL SECURITY;
ALTER TABLE "app_user" FORCE ROW LEVEL SECURITY;
CREATE POLICY api_isolation ON "app_user" FOR SELECT TO holdfast_api
  USING (EXISTS (SELECT FROM "membership" m
    WHERE m.user_id = app_user.id AND m.organization_id = (SELECT current_organization_id())));
CREATE POLICY system_access ON "app_user" TO holdfast_system USING (true) WITH CHECK (true);

-- Rights. The audit log can only grow.
GRANT USAGE ON SCHEMA public TO holdfast_api, holdfast_system;
GRANT SELECT, INSERT, UPDATE, DELETE ON
  "membership", "project", "token", "cluster", "node", "disk", "volume", "replica", "snapshot", "rebuild", "setting",
  "engine_observation", "event", "outbox", "idempotency_key"
  TO holdfast_api, holdfast_system;
GRANT SELECT ON "organization", "app_user" TO holdfast_api;
GRANT SELECT, INSERT, UPDATE ON "organization", "app_user" TO holdfast_system;
GRANT SELECT, INSERT ON "audit_entry" TO holdfast_api, holdfast_system;
GRANT USAGE ON ALL SEQUENCES IN SCHEMA public TO holdfast_api, holdfast_system;

-- The two functions below run as the owner, whom FORCE holds to the policies too: it may read what they read.
CREATE POLICY owner_sign_in ON "token" FOR SELECT TO CURRENT_USER USING (true);
CREATE POLICY owner_sign_in ON "membership" FOR SELECT TO CURRENT_USER USING (true);
CREATE POLICY owner_sign_in ON "app_user" FOR SELECT TO CURRENT_USER USING (true);

-- The one way from a secret to its organization: the caller must already have the secret. The role is what both the
-- token and, for people, the membership allow; who is no member any more gets nothing.
CREATE FUNCTION find_token(hash text)
  RETURNS TABLE (
    token_id uuid, kind text, organization_id uuid, user_id uuid, cluster_id uuid, project_id uuid,
    token_role text, member_role text
  )
  LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, public
  AS $$
    SELECT t.id, t.kind, t.organization_id, t.user_id, t.cluster_id, t.project_id, t.role, m.role
    FROM public.token t
    LEFT JOIN public.membership m ON m.user_id = t.user_id AND m.organization_id = t.organization_id
    WHERE t.secret_hash = hash
      AND (t.expires_at IS NULL OR t.expires_at > now())
      AND (t.kind = 'agent' OR m.user_id IS NOT NULL)
  $$;

-- The one way from an e-mail address to a password hash and the person's organizations, oldest membership first.
CREATE FUNCTION find_sign_in(address text)
  RETURNS TABLE (user_id uuid, password_hash text, organization_id uuid, role text)
  LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, public
  AS $$
    SELECT u.id, u.password_hash, m.organization_id, m.role
    FROM public.app_user u
    JOIN public.membership m ON m.user_id = u.id
    WHERE u.email = lower(address)
    ORDER BY m.created_at, m.organization_id
  $$;

REVOKE ALL ON FUNCTION find_token(text), find_sign_in(text) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION find_token(text), find_sign_in(text) TO holdfast_api, holdfast_system;
