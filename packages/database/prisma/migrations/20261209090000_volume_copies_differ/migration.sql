-- Alerts are judged every few seconds, and ask for the volumes whose copies differ: hardly ever one, of many.
CREATE INDEX "volume_copies_differ_idx" ON "volume" ("cluster_id") WHERE "conditions" @> '[{"type":"CopiesDiffer","status":"True"}]';
