-- How the disk has answered lately, as its agent reports it. It gives a report no other meaning, so it ends none.
ALTER TABLE "disk" ADD COLUMN "answers" JSONB;
