-- The event that an event follows from; 0: none. Not null, so that lists can be filtered and sorted by it.
ALTER TABLE "event" ADD COLUMN "cause_id" BIGINT NOT NULL DEFAULT 0;

-- Lists of what follows from nothing, and of what follows from one event.
CREATE INDEX "event_cluster_id_cause_id_id_idx" ON "event"("cluster_id", "cause_id", "id");

-- What follows from an event, counted with it: most follow from nothing, and are not in here.
CREATE INDEX "event_effects" ON "event"("cause_id") WHERE "cause_id" <> 0;

-- The last loss or return of a node or a disk, when an event names it as its cause.
CREATE INDEX "event_of_places" ON "event"("subject_id", "id")
  WHERE "type" IN ('NodeNotReady', 'NodeReady', 'DiskNotReady', 'DiskReady');
