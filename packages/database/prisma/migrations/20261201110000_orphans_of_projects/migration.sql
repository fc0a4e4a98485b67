-- To who sees some projects only, orphans of other projects' volumes are not there, nor those of volumes that are gone: nothing says any
-- more which project these were of. As for rebuilds and events.
CREATE POLICY token_projects ON "orphan" AS RESTRICTIVE TO holdfast_api
  USING ((SELECT current_project_ids()) IS NULL OR volume_id IN (SELECT v.id FROM "volume" v));
