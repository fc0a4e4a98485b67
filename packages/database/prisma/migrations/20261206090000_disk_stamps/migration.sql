-- A disk's stamp: which state of it is the newest that its holder has stored on it (ADR 0322). The columns are NULL for disks whose agent is of a version
-- before this.
ALTER TABLE "disk" ADD COLUMN "stamp" JSONB;
-- The node whose report is to be taken for the disk next, whatever its stamp: a user has said so.
ALTER TABLE "disk" ADD COLUMN "accepted_node_id" UUID;
-- Other nodes that have reported a disk of this identity, and since when.
ALTER TABLE "disk" ADD COLUMN "rivals" JSONB;
-- The disk whose identity this one has too. Such a row tells of a second disk, and goes when its agent reports that one no more.
ALTER TABLE "disk" ADD COLUMN "duplicate_of" UUID;
