-- Which worker may change this environment by a copy: the runner of stoa.environment_copy that took one up last
-- (crates/content/src/environment/fence.rs). An earlier one that goes on after a pause finds another name here.
create table stoa.environment_worker (
    site {text} primary key,
    runner {text} not null
);
