import { inTwoLanguages } from "../language/words";

export const chartWords = inTwoLanguages(
  {
    "chart.as_table": "The same as a table",
    "chart.arrived": "Came",
    "chart.median": "Forecast, median",
    "chart.half": "Half of the outcomes",
    "chart.most": "8 of 10 outcomes",
    "chart.now": "now",
    "chart.time": "Time",
    "chart.band": "8 of 10",
  },
  {
    "chart.as_table": "以表格显示",
    "chart.arrived": "实际到达",
    "chart.median": "预测中位数",
    "chart.half": "一半结果",
    "chart.most": "八成结果",
    "chart.now": "当前",
    "chart.time": "时间",
    "chart.band": "八成范围",
  },
);
