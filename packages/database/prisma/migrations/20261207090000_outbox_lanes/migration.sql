-- Which wake-ups are handed over first: the place of their lane among core's `LANES` (ADR 0342). Versions before this one write requests.
ALTER TABLE "outbox" ADD COLUMN "lane" SMALLINT NOT NULL DEFAULT 1;
CREATE INDEX "outbox_lane_id_idx" ON "outbox" ("lane", "id");
