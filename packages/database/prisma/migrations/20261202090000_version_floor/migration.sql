-- The oldest version that may still be started on this database, once an upgrade was finished: one row, or none.
CREATE TABLE "version_floor" (
    "id" INTEGER NOT NULL,
    -- Name of a migration that a program has to know.
    "migration" TEXT NOT NULL,
    -- The lowest version of their protocol that agents may speak; 0: those too that do not say which.
    "agent_protocol" INTEGER NOT NULL,
    "raised_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "version_floor_pkey" PRIMARY KEY ("id"),
    CONSTRAINT "version_floor_one_row" CHECK ("id" = 1)
);
ALTER TABLE "version_floor" ENABLE ROW LEVEL SECURITY;
ALTER TABLE "version_floor" FORCE ROW LEVEL SECURITY;
-- It is no one's secret, and heartbeats are judged by it whoever stores them.
CREATE POLICY api_isolation ON "version_floor" TO holdfast_api USING (true) WITH CHECK (false);
GRANT SELECT ON "version_floor" TO holdfast_api;
CREATE POLICY system_access ON "version_floor" TO holdfast_system USING (true) WITH CHECK (true);
GRANT SELECT, INSERT, UPDATE, DELETE ON "version_floor" TO holdfast_system;

-- Of the agent that was heard last; NULL: it did not say, or was not heard since this column is there.
ALTER TABLE "node" ADD COLUMN "agent_protocol" INTEGER;
