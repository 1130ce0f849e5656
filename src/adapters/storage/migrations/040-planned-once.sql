-- These run at every purchase, on a few rows found by index. Planning them anew took longer than running
-- them, so each connection plans them once.
alter function spent_budget(jsonb, text, text, text, timestamptz) set plan_cache_mode = force_generic_plan;
alter function exceeded_share(numeric, text, text, numeric) set plan_cache_mode = force_generic_plan;
