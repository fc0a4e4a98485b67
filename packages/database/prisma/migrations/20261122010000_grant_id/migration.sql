-- Names a grant of an epoch. Programs of the version before do not name the column, and grants without a name are not told apart.
ALTER TABLE "volume" ADD COLUMN "grant_id" UUID;
