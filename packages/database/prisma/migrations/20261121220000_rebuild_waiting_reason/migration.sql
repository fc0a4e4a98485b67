-- The code of what a rebuild waits for. Programs of the version before do not name the column, and leave it as it is.
ALTER TABLE "rebuild" ADD COLUMN "waiting_reason" TEXT;
