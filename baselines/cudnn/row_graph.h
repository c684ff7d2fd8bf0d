// A row op as a graph.
#pragma once

#include "baselines/cudnn/graph.h"
#include "baselines/cudnn/row_problem.h"

namespace etalon::cudnn {

[[nodiscard]] Definition row_definition(const RowProblem& problem);

}  // namespace etalon::cudnn
