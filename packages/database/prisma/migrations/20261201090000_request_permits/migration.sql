-- Requests that api processes have taken permits for, by organization and project, in the window that ends at `expire` (milliseconds
-- since 1970). Written by `rate-limiter-flexible`, as "sign_in_limit" is. Not logged: counts of a minute need survive no crash, and a
-- commit of them waits for no disk. A process may ask while it has no transaction of the organization, so rows name none by a column.
CREATE UNLOGGED TABLE "request_permit" (
  "key" VARCHAR(255) NOT NULL,
  "points" BIGINT NOT NULL DEFAULT 0,
  "expire" BIGINT,
  CONSTRAINT "request_permit_pkey" PRIMARY KEY ("key")
);
ALTER TABLE "request_permit" ENABLE ROW LEVEL SECURITY;
ALTER TABLE "request_permit" FORCE ROW LEVEL SECURITY;
CREATE POLICY api_isolation ON "request_permit" TO holdfast_api USING (true) WITH CHECK (true);
CREATE POLICY system_access ON "request_permit" TO holdfast_system USING (true) WITH CHECK (true);
GRANT SELECT, INSERT, UPDATE, DELETE ON "request_permit" TO holdfast_api, holdfast_system;
